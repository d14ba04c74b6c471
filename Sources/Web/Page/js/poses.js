// Pictures of the poses of a camera for calibrations. The side that names a pose points down.

import { el, svg } from "./dom.js";

/** Rotation of the picture (degrees), and the direction from which the picture shows the camera: front or side. */
const poses = {
  bottom: { turn: 0, text: "upright, level" }, top: { turn: 180, text: "upside down" },
  back: { turn: -90, text: "lens up" }, front: { turn: 90, text: "lens down" },
  // The lens points at the viewer, so the camera's right is on the left.
  right: { turn: -90, isFront: true, text: "on its right side" }, left: { turn: 90, isFront: true, text: "on its left side" },
  level: { turn: 0, text: "level" }, lens_down: { turn: 60, text: "lens down" },
};

/** Picture of a pose; `isDone` marks a measured pose, `isNext` the pose that the user must set next. */
function picture(name, isDone, isNext) {
  const { turn, isFront, text } = poses[name];
  const camera = svg("g", { transform: `rotate(${turn} 50 40)` },
    svg("rect", { class: "body", x: isFront ? 30 : 27, y: 24, width: isFront ? 40 : 34, height: 32, rx: 4 }),
    isFront ? svg("circle", { class: "lens", cx: 50, cy: 40, r: 11 }) : svg("rect", { class: "lens", x: 61, y: 31, width: 15, height: 18, rx: 2 }),
    svg("rect", { class: "lens", x: 44, y: 17, width: 12, height: 7, rx: 1 }));
  return el("figure", { "aria-label": `${text}: ${isDone ? "measured" : isNext ? "next" : "missing"}` },
    svg("svg", { class: "pose", viewBox: "0 0 100 80", "aria-hidden": "true" }, camera,
      svg("path", { class: "ground", d: "M8 74H92" }), isDone ? svg("path", { d: "M70 14l8 9 14-17", fill: "none", stroke: "currentColor", "stroke-width": 5 }) : null),
    el("figcaption", { class: isDone ? "good" : isNext ? "care" : "soft" }, `${isDone ? "✓ " : isNext ? "→ " : ""}${text}`));
}

/** Pictures of a calibration's poses; `missing` are the daemon's names, or null before the start. */
export function pictures(kind, missing) {
  const names = { gyro: ["bottom"], accelerometer: ["bottom", "top", "back", "front", "right", "left"], mounting: ["level", "lens_down"] }[kind] ?? [];
  return el("div", { class: "poses" }, names.map((name) => picture(name, missing !== null && kind !== "gyro" && !missing.includes(name), name === missing?.[0])));
}
