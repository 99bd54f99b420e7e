// The frame of a citation, while the pointer or the keyboard is on it.
"use strict";
(() => {
  let box = null;
  const hide = () => { if (box) box.remove(); box = null; };
  const show = (link) => {
    hide();
    box = document.createElement("div");
    box.className = "preview";
    const image = new Image();
    image.alt = "";
    const label = document.createElement("p");
    label.textContent = link.textContent;
    image.addEventListener("error", () => { image.remove(); label.textContent = `${link.textContent}: no frame`; });
    image.src = link.dataset.frame;
    box.append(image, label);
    document.body.append(box);
    const at = link.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.left), innerWidth - 250);
    const below = at.bottom + 250 < innerHeight || at.top < 250;
    box.style.left = `${left + scrollX}px`;
    if (below) box.style.top = `${at.bottom + scrollY + 6}px`;
    else box.style.top = `${at.top + scrollY - 6}px`, box.style.transform = "translateY(-100%)";
  };
  const of = (event) => event.target instanceof Element ? event.target.closest("a[data-frame]") : null;
  document.addEventListener("pointerover", (event) => { const link = of(event); if (link) show(link); });
  document.addEventListener("pointerout", (event) => { if (of(event)) hide(); });
  document.addEventListener("focusin", (event) => { const link = of(event); if (link && link.matches(":focus-visible")) show(link); });
  document.addEventListener("focusout", hide);
  addEventListener("renewed", hide);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
})();
