// Plots of complete measurements, as SVG: spectrum, Bode diagram, step response.

import { el, fixed, svg } from "./dom.js";
import { niceStep } from "./chart.js";

const box = { width: 640, height: 240, left: 52, right: 10, top: 12, bottom: 30 };

/**
 * Draws curves. `curves`: `{ name, className, points: [[x, y]…], isDots }`; `x` and `y`: `{ label, isLog, low, high }`.
 */
export function plot(title, { x, y, curves, note }) {
  const points = curves.flatMap((curve) => curve.points).filter((point) => Number.isFinite(point[0]) && Number.isFinite(point[1]));
  if (!points.length) return el("p", { class: "hint" }, `${title}: no values.`);
  const xs = axis(x, points.map((point) => point[0]), box.left, box.width - box.right);
  const ys = axis(y, points.map((point) => point[1]), box.height - box.bottom, box.top);
  const node = svg("svg", { class: "plot", viewBox: `0 0 ${box.width} ${box.height}`, role: "img", "aria-label": `${title}${note ? `: ${note}` : ""}` });
  for (const tick of xs.ticks) {
    node.append(svg("line", { class: "grid", x1: xs.at(tick), x2: xs.at(tick), y1: box.top, y2: box.height - box.bottom }),
      svg("text", { x: xs.at(tick), y: box.height - 14, "text-anchor": "middle" }, number(tick)));
  }
  for (const tick of ys.ticks) {
    node.append(svg("line", { class: "grid", x1: box.left, x2: box.width - box.right, y1: ys.at(tick), y2: ys.at(tick) }),
      svg("text", { x: box.left - 5, y: ys.at(tick) + 4, "text-anchor": "end" }, number(tick)));
  }
  node.append(svg("text", { x: box.width - box.right, y: box.height - 2, "text-anchor": "end" }, x.label),
    svg("text", { x: 4, y: 11 }, y.label));
  for (const curve of curves) {
    const inside = curve.points.filter((point) => xs.has(point[0]) && Number.isFinite(point[1]));
    const group = svg("g", { class: curve.className });
    if (curve.isDots) group.append(...inside.map((point) => svg("circle", { class: "dot", r: 2.4, cx: xs.at(point[0]).toFixed(1), cy: ys.at(point[1]).toFixed(1) })));
    else group.append(svg("path", { class: "curve", d: inside.map((point, index) => `${index ? "L" : "M"}${xs.at(point[0]).toFixed(1)} ${ys.at(point[1]).toFixed(1)}`).join("") }));
    node.append(group);
  }
  return el("figure", {}, el("figcaption", {}, title), node,
    el("ul", { class: "legend" }, curves.map((curve) => el("li", { class: curve.className }, curve.name))),
    note ? el("p", { class: "hint" }, note) : null);
}

function axis({ isLog, low, high }, values, from, to) {
  let [least, most] = [low ?? Math.min(...values), high ?? Math.max(...values)];
  if (!(most > least)) [least, most] = [least - 1, most + 1];
  const scale = isLog ? Math.log10 : (value) => value;
  const [a, b] = [scale(least), scale(most)];
  const at = (value) => from + (scale(Math.min(most, Math.max(least, value))) - a) / (b - a) * (to - from);
  const ticks = [];
  if (isLog) {
    for (let power = Math.floor(a); power <= b; power++) {
      for (const factor of [1, 2, 5]) {
        const tick = factor * 10 ** power;
        if (tick >= least && tick <= most) ticks.push(tick);
      }
    }
  } else {
    const step = niceStep((most - least) / 5);
    for (let tick = Math.ceil(least / step) * step; tick <= most + step * 1e-9; tick += step) ticks.push(tick);
  }
  return { at, ticks, has: (value) => value >= least && value <= most };
}

const number = (value) => (Math.abs(value) >= 1 || value === 0 ? String(Number(value.toPrecision(4))).replace("-", "−") : fixed(value, 3).replace(/0+$/, ""));
