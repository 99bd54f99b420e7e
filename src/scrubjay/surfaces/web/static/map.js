// The grid on a canvas: move, zoom, choose a cell, by pointer or keyboard. A slice by world and height, a life's path.
"use strict";
(() => {
  const canvas = document.getElementById("map");
  if (!canvas) return;
  const form = document.getElementById("map-form"), told = document.querySelector(".map-at"), tools = document.querySelector(".map-tools");
  const pen = canvas.getContext("2d");
  const world = canvas.dataset.world;
  let slice = null, path = [], places = new Map(), chosen = null, hovered = null;
  let scale = 8, left = 0, top = 0, moved = false, loads = 0;
  canvas.hidden = false;
  tools.hidden = false;
  form.querySelector("button").hidden = true;

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const key = (a, b) => `${a},${b}`;
  // Rows of the screen grow downwards; where the vertical axis is z, maps grow upwards.
  const row = (b) => (slice && slice.upward ? -b : b);

  async function load(keep) {
    const mine = ++loads;
    const height = form.height.value, life = form.life.value;
    const asked = new URLSearchParams({ world });
    if (height !== "") asked.set("height", height);
    const shown = new URLSearchParams(asked);
    if (life) shown.set("life", life);
    history.replaceState(null, "", `/map?${shown}`);
    const response = await fetch(`/map/cells?${asked}`);
    if (!response.ok || mine !== loads) return;
    slice = await response.json();
    path = life ? (await (await fetch(`/map/path?${new URLSearchParams({ world, life })}`)).json()).pieces : [];
    if (mine !== loads) return;
    places = new Map();
    for (let i = 0; i < slice.cells.length; i += 4) places.set(key(slice.cells[i], slice.cells[i + 1]), i);
    if (!keep) all(); else draw();
  }

  function size() {
    const box = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(box.width * ratio) || canvas.height !== Math.round(box.height * ratio)) {
      canvas.width = Math.round(box.width * ratio);
      canvas.height = Math.round(box.height * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    return [box.width, box.height];
  }

  function all() {
    const [width, height] = size();
    let low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (let i = 0; i < slice.cells.length; i += 4) {
      const a = slice.cells[i], b = row(slice.cells[i + 1]);
      low = [Math.min(low[0], a), Math.min(low[1], b)];
      high = [Math.max(high[0], a), Math.max(high[1], b)];
    }
    if (!Number.isFinite(low[0])) { low = [0, 0]; high = [0, 0]; }
    const wide = high[0] - low[0] + 1, tall = high[1] - low[1] + 1;
    scale = Math.min(Math.max(Math.min((width - 48) / wide, (height - 48) / tall), 0.05), 40);
    left = low[0] + wide / 2 - width / scale / 2;
    top = low[1] + tall / 2 - height / scale / 2;
    draw();
  }

  const names = ["--map-hazard", "--map-placed", "--map-opened", "--map-blocked", "--map-walked"];

  function draw() {
    if (!slice) return;
    const [width, height] = size();
    const colours = names.map(colour), gap = scale > 7 ? 1 : 0;
    pen.fillStyle = colour("--map-paper");
    pen.fillRect(0, 0, width, height);
    // Walked first, hazards last: what matters more lies on top.
    for (let rank = 4; rank >= 0; rank -= 1) {
      pen.fillStyle = colours[rank];
      for (let i = 0; i < slice.cells.length; i += 4) {
        if (slice.cells[i + 2] !== rank) continue;
        const x = (slice.cells[i] - left) * scale, y = (row(slice.cells[i + 1]) - top) * scale;
        if (x < -scale || y < -scale || x > width || y > height) continue;
        const edge = Math.max(scale - gap, rank < 3 ? 3 : 1);
        pen.fillRect(x, y, edge, edge);
        if (rank < 3 && scale >= 12) letter(slice.names[slice.cells[i + 3]], x, y, rank);
      }
    }
    drawPath();
    grid(width, height);
    frame(hovered, colour("--soft"), 1.5);
    frame(chosen, colour("--ink"), 2.5);
  }

  function letter(name, x, y, rank) {
    if (!name) return;
    pen.save();
    pen.fillStyle = rank === 0 ? "#fff" : "#1b1300";
    pen.font = `600 ${Math.min(scale * 0.6, 15)}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(name[0], x + scale / 2, y + scale / 2);
    pen.restore();
  }

  function drawPath() {
    if (!path.length) return;
    const block = slice.block;
    pen.strokeStyle = colour("--map-path");
    pen.lineWidth = Math.min(Math.max(scale / 6, 1.2), 3);
    pen.lineJoin = "round";
    pen.beginPath();
    let end = null;
    for (const piece of path) {
      for (let i = 0; i < piece.length; i += 2) {
        const x = ((piece[i] + 0.5) / block - left) * scale, y = ((row(piece[i + 1]) + 0.5) / block - top) * scale;
        if (i === 0) pen.moveTo(x, y); else pen.lineTo(x, y);
        end = [x, y];
      }
    }
    pen.stroke();
    if (end) {
      pen.fillStyle = colour("--map-path");
      pen.beginPath();
      pen.arc(end[0], end[1], Math.max(4, pen.lineWidth * 2), 0, 2 * Math.PI);
      pen.fill();
    }
  }

  // Coordinates along two edges, at round numbers.
  function grid(width, height) {
    const unit = scale / (slice.block * slice.cell);
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000].find((one) => one * unit > 74) || 1e6;
    pen.font = "11px ui-monospace, monospace";
    pen.fillStyle = colour("--soft");
    pen.strokeStyle = colour("--line");
    pen.lineWidth = 1;
    const perCell = slice.block * slice.cell;
    for (let value = Math.ceil((left * perCell) / step) * step; ; value += step) {
      const x = (value / perCell - left) * scale;
      if (x > width) break;
      pen.beginPath(); pen.moveTo(x + 0.5, height - 16); pen.lineTo(x + 0.5, height - 10); pen.stroke();
      pen.textAlign = "center";
      if (x > 24 && x < width - 24) pen.fillText(String(value), x, height - 2);
    }
    for (let value = Math.ceil((top * perCell) / step) * step; ; value += step) {
      const y = (value / perCell - top) * scale;
      if (y > height - 20) break;
      if (y < 10) continue;
      pen.textAlign = "left";
      pen.fillText(String(slice.upward ? -value : value), 4, y + 4);
    }
    pen.textAlign = "right";
    pen.fillText(`${slice.axes[0]} →  ${slice.axes[1]} ${slice.upward ? "↑" : "↓"}`, width - 8, 14);
  }

  function frame(place, stroke, wide) {
    if (!place) return;
    pen.strokeStyle = stroke;
    pen.lineWidth = wide;
    const edge = Math.max(scale, 6);
    pen.strokeRect((place[0] - left) * scale - 1, (row(place[1]) - top) * scale - 1, edge + 1, edge + 1);
  }

  function placeAt(event) {
    const box = canvas.getBoundingClientRect();
    const a = Math.floor((event.clientX - box.left) / scale + left), b = Math.floor((event.clientY - box.top) / scale + top);
    return [a, slice && slice.upward ? -b : b];
  }

  function tell(place) {
    if (!slice || !place) { told.textContent = ""; return; }
    const i = places.get(key(place[0], place[1])), edge = slice.block * slice.cell;
    const where = `${slice.axes[0]} ${place[0] * edge}, ${slice.axes[1]} ${place[1] * edge}`;
    const name = i === undefined ? "" : slice.names[slice.cells[i + 3]];
    const kind = i === undefined ? "not known" : slice.kinds[slice.cells[i + 2]];
    told.textContent = `${where}: ${kind}${name && name !== kind ? `, ${name}` : ""}`;
  }

  async function choose(place) {
    chosen = place;
    draw();
    tell(place);
    const asked = new URLSearchParams({ world, a: place[0], b: place[1], block: slice.block });
    if (form.height.value !== "") asked.set("height", form.height.value);
    const response = await fetch(`/map/at?${asked}`);
    if (!response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("cell");
    const old = document.getElementById("cell");
    if (fresh && old) { old.replaceChildren(...fresh.childNodes); }
  }

  function zoom(by, at) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = at || [box.width / 2, box.height / 2];
    const next = Math.min(Math.max(scale * by, 0.05), 60);
    left += x / scale - x / next;
    top += y / scale - y / next;
    scale = next;
    draw();
  }

  let held = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), [event.clientX - box.left, event.clientY - box.top]);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; moved = false; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (held) {
      const across = event.clientX - held[0], down = event.clientY - held[1];
      if (moved || Math.hypot(across, down) > 4) {
        moved = true;
        left -= across / scale;
        top -= down / scale;
        held = [event.clientX, event.clientY];
      }
    }
    hovered = placeAt(event);
    tell(hovered);
    draw();
  });
  canvas.addEventListener("pointerup", (event) => { held = null; if (!moved) choose(placeAt(event)); });
  canvas.addEventListener("pointercancel", () => { held = null; });
  canvas.addEventListener("pointerleave", () => { hovered = null; tell(chosen); draw(); });
  tools.addEventListener("click", (event) => {
    const how = event.target.closest("button")?.dataset.map;
    if (how === "all") all(); else if (how) zoom(how === "in" ? 1.5 : 1 / 1.5);
  });
  canvas.addEventListener("keydown", (event) => {
    if (!slice) return;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key in moves) {
      event.preventDefault();
      const [width, height] = size();
      const at = hovered || chosen || [Math.floor(left + width / scale / 2), row(Math.floor(top + height / scale / 2))];
      const far = event.shiftKey ? 10 : 1;
      hovered = [at[0] + moves[event.key][0] * far, at[1] + row(moves[event.key][1] * far)];
      const x = (hovered[0] - left) * scale, y = (row(hovered[1]) - top) * scale;
      if (x < 0 || x > width) left = hovered[0] - width / scale / 2;
      if (y < 0 || y > height) top = row(hovered[1]) - height / scale / 2;
      tell(hovered);
      draw();
    } else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); if (hovered) choose(hovered); }
    else if (event.key === "+" || event.key === "=") zoom(1.5);
    else if (event.key === "-") zoom(1 / 1.5);
    else if (event.key === "0") all();
  });
  form.addEventListener("change", (event) => { if (event.target.name === "world") form.submit(); else load(event.target.name === "life"); });
  addEventListener("resize", draw);
  addEventListener("themechange", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("renewed", () => load(true));
  load(false);
})();
