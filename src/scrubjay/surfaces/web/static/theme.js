// Light or dark: as the system says, until a person chooses. Runs before the page is drawn.
"use strict";
(() => {
  const root = document.documentElement;
  const read = () => { try { return localStorage.getItem("scrubjay-theme"); } catch { return null; } };
  const chosen = read();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector(".theme");
    button.hidden = false;
    button.addEventListener("click", () => {
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      try { localStorage.setItem("scrubjay-theme", root.dataset.theme); } catch { /* for this page alone, then */ }
      dispatchEvent(new Event("themechange"));
    });
  });
})();
