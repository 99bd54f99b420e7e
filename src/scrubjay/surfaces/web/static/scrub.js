// An episode's steps by slider and keyboard: the frame at once, what else belongs to the step as soon as it is there.
"use strict";
(() => {
  const form = document.querySelector(".scrubber");
  document.addEventListener("keydown", (event) => {
    const writes = event.target instanceof Element && event.target.matches("input:not([type=range]), select, textarea");
    if (writes || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "p") document.querySelector("a[rel=prev]")?.click();
    else if (event.key === "n") document.querySelector("a[rel=next]")?.click();
  });
  if (!form) return; // an episode of one observation
  const { episode } = form.dataset, first = Number(form.dataset.first), last = Number(form.dataset.last);
  const slider = document.getElementById("slider"), shown = document.getElementById("shown");
  const play = document.getElementById("play"), reference = document.getElementById("reference");
  const kept = new Map();
  let at = Number(slider.value), playing = 0;

  const address = (step) => `/episodes/${episode}/steps/${step}`;

  function load(step) {
    if (step < first || step > last) return null;
    if (!kept.has(step)) {
      if (kept.size > 400) kept.clear();
      kept.set(step, fetch(address(step)).then((response) => (response.ok ? response.text() : Promise.reject(response.status))));
      kept.get(step).catch(() => kept.delete(step));
    }
    return kept.get(step);
  }

  async function place(step) {
    let text;
    try { text = await load(step); } catch { return; }
    if (step !== at) return;
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("step");
    const old = document.getElementById("step");
    const open = old.querySelector(".step-changes")?.open;
    const images = [...fresh.querySelectorAll("img")];
    // The picture is decoded before it takes the other's place, so that nothing flickers.
    await Promise.all(images.map((image) => image.decode().catch(() => null)));
    if (step !== at) return;
    const details = fresh.querySelector(".step-changes");
    if (details && open !== undefined) details.open = open;
    old.replaceWith(document.adoptNode(fresh));
  }

  function go(step, wrap = false) {
    if (wrap && step > last) step = first;
    step = Math.min(Math.max(step, first), last);
    if (step === at) return;
    at = step;
    slider.value = String(step);
    shown.textContent = String(step);
    document.getElementById("back").href = `?step=${Math.max(step - 1, first)}`;
    document.getElementById("forth").href = `?step=${Math.min(step + 1, last)}`;
    reference.href = `/compare?ref=${episode}%23${step}`;
    history.replaceState(null, "", `?step=${step}`);
    place(step);
    load(step + 1);
    load(step - 1);
  }

  function toggle() {
    playing = playing ? (clearInterval(playing), 0) : setInterval(() => go(at + 1, true), 180);
    play.textContent = playing ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(Boolean(playing)));
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  slider.addEventListener("input", () => go(Number(slider.value)));
  document.getElementById("back").addEventListener("click", (event) => { event.preventDefault(); go(at - 1); });
  document.getElementById("forth").addEventListener("click", (event) => { event.preventDefault(); go(at + 1); });
  play.hidden = false;
  play.addEventListener("click", toggle);

  document.addEventListener("keydown", (event) => {
    const target = event.target;
    const writes = target instanceof Element && target.matches("input:not([type=range]), select, textarea");
    if (writes || event.ctrlKey || event.metaKey || event.altKey) return;
    const far = Math.max(1, Math.round((last - first) / 10));
    const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - far, PageDown: at + far, Home: first, End: last };
    if (event.key in moves) { event.preventDefault(); go(moves[event.key]); }
    else if (event.key === " " && !(target instanceof Element && target.matches("button, summary, a"))) { event.preventDefault(); toggle(); }
  });
  load(at + 1);
})();
