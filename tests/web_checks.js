// What a page is checked for in the browser; each function gives what is wrong, in words.
({
  // What a screen reader would call nothing: fields, buttons, links and pictures without a name.
  unnamed() {
    const named = (one) =>
      one.getAttribute("aria-label") || one.getAttribute("title") || one.textContent.trim() ||
      [...(one.labels || [])].some((label) => label.textContent.trim()) || one.querySelector("img[alt]")?.alt;
    return [...document.querySelectorAll("a[href], button, input, select, img, svg[role], canvas")]
      .filter((one) => !one.closest("[aria-hidden=true], [hidden]") && one.getClientRects().length)
      .filter((one) => (one.tagName === "IMG" ? !one.hasAttribute("alt") : !named(one)))
      .map((one) => one.outerHTML.slice(0, 120));
  },

  // Text whose contrast with what lies behind it is below 4.5 to 1 (WCAG 2.2, level AA).
  faint() {
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      return [...pen.getImageData(0, 0, 1, 1).data];
    };
    const linear = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const behind = (one) => {
      for (; one; one = one.parentElement) {
        const style = getComputedStyle(one), colour = rgba(style.backgroundColor);
        if (style.backgroundImage !== "none" || (colour[3] && colour[3] < 255)) return null; // can't be told
        if (colour[3]) return colour;
      }
      return [255, 255, 255];
    };
    const left = "svg, script, noscript, option, datalist, .unseen, .skip";
    const found = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const one = texts.currentNode.parentElement;
      if (!texts.currentNode.textContent.trim() || !one.getClientRects().length || one.closest(left)) continue;
      const back = behind(one);
      if (!back) continue;
      const [high, low] = [luminance(rgba(getComputedStyle(one).color)), luminance(back)].sort((a, b) => b - a);
      const contrast = (high + 0.05) / (low + 0.05);
      if (contrast < 4.5) found.add(`${one.className || one.tagName}: ${contrast.toFixed(2)}`);
    }
    return [...found];
  },

  wide: () => (document.documentElement.scrollWidth > innerWidth ? [`${document.documentElement.scrollWidth} px`] : []),

  elsewhere: () => [...document.images].map((one) => one.src).filter((src) => new URL(src).origin !== location.origin),
})
