// Live charts of error, rate and torque.

import { download, el, setText } from "../dom.js";
import { Chart, Trace, spanSeconds } from "../chart.js";
import { axes } from "../live.js";

const rate = 50;

export class Charts {
  constructor({ link }) {
    this.link = link;
    const names = (group) => axes.map((axis) => `${group}.${axis}`);
    this.trace = new Trace(["error", "rate", "torque"].flatMap(names), rate);
    this.charts = [
      new Chart(this.trace, "Error", "°", names("error"), 3),
      new Chart(this.trace, "Rate", "°/s", names("rate"), 2),
      new Chart(this.trace, "Torque", "N·m", names("torque"), 4),
    ];
    this.pause = el("button", { type: "button", onclick: () => this.#toggle() }, "Pause");
    this.back = el("input", { type: "range", min: 0, value: 0, step: 0.5, "aria-label": "Seconds back", oninput: () => this.#draw() });
    this.place = el("output", {});
    this.scroll = el("div", { hidden: true }, this.back, this.place);
    this.node = el("section", { class: "card", "aria-label": "Live charts" }, el("h2", {}, "Live"),
      el("div", { class: "row" }, this.pause,
        el("label", { class: "line" }, "Show", el("select", { onchange: (event) => { this.#spread(Number(event.target.value)); this.#draw(); } },
          [5, 10, 30, 60].map((span) => el("option", { value: span, selected: span === 10 }, `${span} s`)))),
        el("button", { type: "button", onclick: () => download("airframe.csv", this.trace.csv, "text/csv") }, "CSV")),
      this.scroll, this.charts.map((chart) => chart.node));
    this.#spread(10);
  }

  /** Sets the visible time, s. The slider reaches the oldest value of the trace. */
  #spread(span) {
    this.span = span;
    this.back.max = spanSeconds - span;
    this.back.disabled = span >= spanSeconds;
  }

  show() {
    this.end = this.link.subscribe(this.trace.names, rate, (values, t) => this.isPaused || this.trace.add(values, t));
    const frame = () => {
      if (!this.isPaused) this.#draw();
      this.frame = requestAnimationFrame(frame);
    };
    frame();
    this.observer = new ResizeObserver(() => this.isPaused && this.#draw());
    this.observer.observe(this.node);
  }

  close() {
    this.end?.();
    this.observer?.disconnect();
    cancelAnimationFrame(this.frame);
  }

  #toggle() {
    this.isPaused = !this.isPaused;
    setText(this.pause, this.isPaused ? "Continue" : "Pause");
    this.scroll.hidden = !this.isPaused;
    this.back.value = 0;
    this.#draw();
  }

  #draw() {
    const back = this.isPaused ? Number(this.back.value) : 0;
    setText(this.place, `${back} s back`);
    for (const chart of this.charts) chart.draw(this.trace.newest - back, this.span);
  }
}
