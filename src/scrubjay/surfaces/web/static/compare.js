// Frames side by side, one look at all: the same part of each, by wheel, drag, buttons or keyboard.
"use strict";
(() => {
  const tools = document.querySelector(".zoom"), frames = [...document.querySelectorAll(".compare .window")];
  if (!tools || !frames.length) return;
  tools.hidden = false;
  const slider = document.getElementById("zoom"), output = tools.querySelector("output");
  // The part in view: its middle, from 0 to 1 of the frame's width and height, and how much larger it is.
  let zoom = 1, x = 0.5, y = 0.5;

  function draw() {
    const half = 0.5 / zoom;
    x = Math.min(Math.max(x, half), 1 - half);
    y = Math.min(Math.max(y, half), 1 - half);
    for (const frame of frames) frame.firstElementChild.style.transform = `scale(${zoom}) translate(${(0.5 - x) * 100}%, ${(0.5 - y) * 100}%)`;
    for (const frame of frames) frame.classList.toggle("zoomed", zoom > 1);
    slider.value = String(zoom);
    output.textContent = `${Number(zoom.toFixed(2))}×`;
  }
  function scale(by, at = [0.5, 0.5]) {
    const before = zoom;
    zoom = Math.min(Math.max(zoom * by, 1), 12);
    // What is under the pointer stays under it.
    x += (at[0] - 0.5) * (1 / before - 1 / zoom);
    y += (at[1] - 0.5) * (1 / before - 1 / zoom);
    draw();
  }
  const reset = () => { zoom = 1; x = y = 0.5; draw(); };

  slider.addEventListener("input", () => { zoom = Number(slider.value); draw(); });
  tools.addEventListener("click", (event) => {
    const how = event.target.closest("button")?.dataset.zoom;
    if (how === "reset") reset(); else if (how) scale(how === "in" ? 1.5 : 1 / 1.5);
  });
  for (const frame of frames) {
    let held = null;
    frame.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = frame.getBoundingClientRect();
      scale(Math.exp(-event.deltaY / 400), [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]);
    }, { passive: false });
    frame.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; frame.setPointerCapture(event.pointerId); });
    frame.addEventListener("pointermove", (event) => {
      if (!held) return;
      const box = frame.getBoundingClientRect();
      x -= (event.clientX - held[0]) / box.width / zoom;
      y -= (event.clientY - held[1]) / box.height / zoom;
      held = [event.clientX, event.clientY];
      draw();
    });
    for (const end of ["pointerup", "pointercancel"]) frame.addEventListener(end, () => { held = null; });
    frame.addEventListener("dblclick", reset);
  }
  document.addEventListener("keydown", (event) => {
    if (event.target instanceof Element && event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = 0.1 / zoom;
    const moves = { ArrowLeft: [-move, 0], ArrowRight: [move, 0], ArrowUp: [0, -move], ArrowDown: [0, move] };
    if (event.key === "+" || event.key === "=") scale(1.5);
    else if (event.key === "-") scale(1 / 1.5);
    else if (event.key === "0") reset();
    else if (zoom > 1 && event.key in moves) { event.preventDefault(); x += moves[event.key][0]; y += moves[event.key][1]; draw(); }
  });
})();
