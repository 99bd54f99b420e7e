// A page of a memory that grows: asks every other second whether anything changed, and puts the new parts in place.
"use strict";
(() => {
  const root = document.documentElement;
  const quick = 2000, slow = 8000;
  let version = root.dataset.version, running = root.dataset.running !== "", timer = 0;

  const same = (one, two) => one.outerHTML === two.outerHTML;

  async function renew() {
    const parts = document.querySelectorAll("[data-live][id]");
    if (!parts.length) return;
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of parts) {
      const other = fresh.getElementById(part.id);
      // Whoever is in the middle of something there keeps it.
      if (!other || same(part, other) || (part.contains(document.activeElement) && document.activeElement !== document.body)) continue;
      part.replaceWith(document.adoptNode(other));
    }
    dispatchEvent(new Event("renewed"));
  }

  async function look() {
    try {
      if (!document.hidden) {
        const response = await fetch("/live");
        if (response.ok) {
          const now = await response.json();
          running = now.running.length > 0;
          if (now.version !== version) {
            version = now.version;
            await renew();
          }
        }
      }
    } catch { /* the server is not there now; it may be again */ }
    timer = setTimeout(look, running ? quick : slow);
  }

  timer = setTimeout(look, quick);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) { clearTimeout(timer); look(); }
  });
})();
