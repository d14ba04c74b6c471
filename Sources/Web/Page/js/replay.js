// Replay of a recording: the gimbal in 3-D and charts at a time that a slider, an event or the playing clock chooses.

import { Chart, Trace } from "./chart.js";
import { el, fixed, setText } from "./dom.js";
import { axes } from "./live.js";
import { Scene } from "./scene.js";

const groups = [["error", "Error", "°", 3], ["attitude", "Attitude", "°", 1], ["torque", "Torque", "N·m", 4]];

export class Replay {
  /** `series`: `seconds`, `t` and `values` by name, as the server's plot. */
  constructor(series) {
    this.series = series;
    this.time = 0;
    this.speed = 1;
    this.trace = new Trace(groups.flatMap(([group]) => axes.map((axis) => `${group}.${axis}`)), Math.ceil(series.t.length / 60));
    series.t.forEach((t, index) => this.trace.add(this.#values(index), t));
    this.charts = groups.map(([group, title, unit, decimals]) =>
      new Chart(this.trace, title, unit, axes.map((axis) => `${group}.${axis}`), decimals));
    this.canvas = el("canvas", { class: "scene", role: "img", "aria-label": "Attitude of the camera in the recording" });
    this.slider = el("input", { type: "range", id: "replay-time", min: 0, max: series.seconds.toFixed(2), step: 0.01, value: 0,
      oninput: () => { this.pause(); this.seek(Number(this.slider.value)); } });
    this.place = el("output", { for: "replay-time" });
    this.toggle = el("button", { type: "button", class: "main", onclick: () => (this.isPlaying ? this.pause() : this.#play()) }, "Play");
    this.node = el("div", { class: "replay" }, this.canvas,
      el("label", { for: "replay-time", class: "wide" }, el("span", {}, "Time ", this.place), this.slider),
      el("div", { class: "row" }, this.toggle,
        el("label", { class: "line" }, "Speed", el("select", { onchange: (event) => (this.speed = Number(event.target.value)) },
          [0.1, 0.25, 0.5, 1, 2, 5].map((speed) => el("option", { value: speed, selected: speed === 1 }, `${speed} ×`))))),
      el("div", { class: "split three" }, this.charts.map((chart) => chart.node)));
  }

  /** Draws the first time; the node must be in the page. */
  show() {
    this.scene = new Scene(this.canvas);
    this.seek(0);
    // A canvas does not redraw its picture after a change of its size, for example when a phone is turned.
    this.observer = new ResizeObserver(() => this.#draw());
    this.observer.observe(this.node);
  }

  /** Ends the replay; the node can leave the page. */
  end() {
    this.close();
    this.observer?.disconnect();
  }

  close() {
    cancelAnimationFrame(this.frame);
    this.isPlaying = false;
  }

  /** Shows a time of the recording, s from its begin. */
  seek(time) {
    this.time = Math.min(Math.max(time, 0), this.series.seconds);
    this.#draw();
    this.#describe();
  }

  pause() {
    if (!this.isPlaying) return;
    this.close();
    setText(this.toggle, "Play");
    this.#describe();
  }

  #play() {
    if (this.time >= this.series.seconds) this.time = 0;
    this.isPlaying = true;
    setText(this.toggle, "Pause");
    let last = performance.now();
    const step = (now) => {
      this.time = Math.min(this.time + ((now - last) / 1000) * this.speed, this.series.seconds);
      last = now;
      this.#draw();
      if (this.time >= this.series.seconds) return this.pause();
      this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  #values(index) {
    const { values } = this.series;
    return Object.fromEntries(Object.keys(values).map((name) => [name, values[name][index]]));
  }

  /** Index of the newest entry at the time. */
  get #index() {
    const { t } = this.series;
    let [low, high] = [0, t.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (t[middle] <= this.time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #angles(group) {
    const index = this.#index;
    return Object.fromEntries(axes.map((axis) => [axis, this.series.values[`${group}.${axis}`]?.[index]]));
  }

  #draw() {
    this.slider.value = this.time;
    setText(this.place, `${fixed(this.time, 2)} of ${fixed(this.series.seconds, 2)} s`);
    this.scene?.draw({ attitude: this.#angles("attitude"), setpoint: this.#angles("setpoint"), joint: this.#angles("joint") });
    for (const chart of this.charts) chart.draw(this.time, 10);
  }

  /** States the picture in words; not while it moves. */
  #describe() {
    const { yaw, roll, pitch } = this.#angles("attitude");
    this.canvas.setAttribute("aria-label", `Attitude of the camera at ${fixed(this.time, 2)} s: yaw ${fixed(yaw, 1)}°, roll ${fixed(roll, 1)}°, pitch ${fixed(pitch, 1)}°`);
  }
}
