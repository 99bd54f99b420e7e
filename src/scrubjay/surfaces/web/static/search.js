// Search as one types: what is found comes in place, and the address says what was asked.
"use strict";
(() => {
  const form = document.getElementById("search");
  let timer = 0, asked = 0;

  const query = () => {
    const values = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (String(value).trim() && !(name === "life" && value === "all")) values.append(name, value);
    return values;
  };

  function copying() {
    const button = document.querySelector(".copy");
    if (!button || !navigator.clipboard) return;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(document.getElementById("command").textContent); button.textContent = "Copied"; } catch { button.textContent = "Not allowed"; }
    });
  }

  async function find() {
    const mine = ++asked, values = query();
    history.replaceState(null, "", `/search${values.size ? `?${values}` : ""}`);
    const old = document.getElementById("found");
    old.setAttribute("aria-busy", "true");
    values.append("part", "1");
    let text;
    try { text = await (await fetch(`/search?${values}`)).text(); } catch { old.removeAttribute("aria-busy"); return; }
    if (mine !== asked) return; // a later letter has its own answer
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("found");
    if (fresh) document.getElementById("found").replaceWith(document.adoptNode(fresh));
    copying();
  }

  const soon = () => { clearTimeout(timer); timer = setTimeout(find, 220); };
  form.addEventListener("input", soon);
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); find(); });
  copying();
})();
