// Measurements: step response, spectrum of the gyroscope, autotune.

import { attempt, el, fixed, plain, sentence, setText } from "../dom.js";
import { axes } from "../live.js";
import { plot } from "../plot.js";

const pollPeriod = 400;

export class Measurements {
  /** `changed` is called after proposals have been applied as settings. */
  constructor(page, changed) {
    Object.assign(this, page);
    this.page = page;
    this.changed = changed;
    this.output = el("div", { "aria-live": "polite" });
    this.progress = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress of the measurement" });
    this.axis = el("select", { id: "axis" }, ["pitch", "roll", "yaw"].map((axis) => el("option", { value: axis }, axis)));
    this.cancel = el("button", { type: "button", hidden: true, onclick: () => this.#cancel() }, "Cancel");
    this.buttons = [
      el("button", { type: "button", onclick: () => this.#step() }, "Step response"),
      el("button", { type: "button", onclick: () => this.#run("spectrum", { seconds: 5 }) }, "Spectrum"),
      el("button", { type: "button", onclick: () => this.#run("autotune", { axis: this.axis.value }) }, "Autotune"),
    ];
    this.node = el("section", { class: "card" }, el("h2", {}, "Measure"),
      el("div", { class: "row" }, el("label", { for: "axis", class: "line" }, "Axis", this.axis),
        this.buttons, this.cancel),
      this.progress, this.output);
  }

  /** Continues to show a measurement that runs, or that has ended while this page showed another view. */
  async show() {
    for (const method of ["autotune", "spectrum"]) {
      if (this.running || this.isClosed || !this.link.isOpen) return;
      const report = await this.link.request(method).catch(() => null);
      if (!report || this.running || this.isClosed) continue;
      if (isActive(report) || this.page.measurement === method) await this.#follow(method, report);
    }
  }

  close() {
    this.isClosed = true;
    this.end?.();
    this.left?.();
  }

  /**
   * Turns the axis by 10° from its set-point and back, and measures the response to the first turn. If the user leaves the view, the axis turns
   * back at once, before another view can send a command.
   */
  async #step() {
    const axis = this.axis.value;
    const size = 10;
    const names = [`setpoint.${axis}`, `attitude.${axis}`];
    const samples = [];
    const start = names.map((name) => this.live.values[name]).find(Number.isFinite);
    if (start === undefined) return;
    setText(this.output, `A step of ${size}° in ${axis} is being measured.`);
    this.#enable(false);
    // The angles continue beyond ±180°.
    const near = (angle) => (Number.isFinite(angle) ? start + wrap(angle - start) : angle);
    const end = this.end = this.link.subscribe(names, 200, (values, t) => samples.push([t, near(values[names[0]]), near(values[names[1]])]));
    await pause(300);
    if (this.isClosed) return;
    const answer = await attempt(() => this.link.request("point", { [axis]: wrap(start + size) }), true);
    if (answer && !this.isClosed) await Promise.race([pause(2000), new Promise((left) => { this.left = left; })]);
    end();
    if (answer) await attempt(() => this.link.request("point", { [axis]: wrap(start) }), true);
    this.#enable(true);
    if (!answer) return setText(this.output, "");
    this.output.replaceChildren(stepPlot(axis, samples));
  }

  /** Prevents further measurements while one runs, because they would disturb it, and because `Cancel` ends only one measurement. */
  #enable(isEnabled) {
    for (const button of this.buttons) button.disabled = !isEnabled;
  }

  async #cancel() {
    if (this.running) await attempt(() => this.link.request(this.running, { action: "cancel" }), true);
  }

  async #run(method, params) {
    this.#enable(false);
    let report;
    try {
      report = await this.link.request(method, { action: "start", ...params });
    } catch (error) {
      this.#enable(true);
      return setText(this.output, sentence(error));
    }
    await this.#follow(method, report);
  }

  /** Shows the progress of a measurement until its end, then its result. */
  async #follow(method, report) {
    this.running = this.page.measurement = method;
    this.#enable(false);
    this.cancel.hidden = this.progress.hidden = false;
    while (!this.isClosed && isActive(report)) {
      this.progress.value = report.progress;
      setText(this.output, report.activity || `Measures: ${fixed(report.progress * 100, 0)} %`);
      await pause(pollPeriod);
      report = await attempt(() => this.link.request(method), true) ?? { state: "lost", sentence: "The connection was lost." };
    }
    if (this.isClosed) return;
    this.running = null;
    // After a lost connection, `show` continues.
    if (report.state !== "lost") this.page.measurement = null;
    this.cancel.hidden = this.progress.hidden = true;
    this.#enable(true);
    const plots = report.state !== "done" ? [] : method === "spectrum" ? spectrumPlots(report) : report.axes.flatMap(bodePlots);
    this.output.replaceChildren(...(report.sentence ? [el("p", {}, report.sentence)] : []), ...plots, this.#proposals(report.proposals ?? []));
  }

  #proposals(proposals) {
    if (!proposals.length) return "";
    return el("div", {}, el("h3", {}, "Proposals"),
      el("ul", { class: "plain" }, proposals.map((proposal) => el("li", {}, el("code", {}, `${proposal.key} = ${plain(proposal.value)}`)))),
      el("button", { type: "button", class: "main", onclick: async () => {
        for (const { key, value } of proposals) if (!await this.trials.begin(key, value, 120)) break;
        this.changed();
      } }, "Try for 120 s"));
  }
}

const isActive = (report) => ["running", "recording"].includes(report.state);
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
const wrap = (angle) => ((((angle + 180) % 360) + 360) % 360) - 180;

function stepPlot(axis, samples) {
  if (samples.length < 20) return el("p", {}, "airframed has sent too few values to draw the step.");
  const [begin, end] = [samples[0][2], samples.at(-1)[1]];
  const height = end - begin;
  const moved = samples.findIndex((sample) => Math.abs(sample[1] - samples[0][1]) > 0.02 * Math.abs(height));
  const zero = samples[Math.max(0, moved)][0];
  const share = samples.map((sample) => (sample[2] - begin) / height);
  const after = samples.map((sample, index) => [sample[0] - zero, share[index]]).filter((point) => point[0] >= 0);
  const rise = after.find((point) => point[1] >= 0.9)?.[0];
  const overshoot = Math.max(0, Math.max(...after.map((point) => point[1])) - 1) * 100;
  const settled = after.findLast((point) => Math.abs(point[1] - 1) > 0.05)?.[0];
  const curve = (index) => samples.map((sample) => [sample[0] - zero, sample[index] - begin]).filter((point) => point[0] > -0.1 && point[0] < 1.2);
  return plot(`Step of ${axis}`, {
    x: { label: "s" }, y: { label: "°" },
    curves: [{ name: "set-point", className: "care", points: curve(1) }, { name: "attitude", className: axis, points: curve(2) }],
    note: `90 % after ${fixed(rise, 2)} s, overshoot ${fixed(overshoot, 1)} %, within 5 % after ${fixed(settled, 2)} s.`,
  });
}

function spectrumPlots(report) {
  const curves = report.axes.map((one, index) => ({
    name: one.axis, className: axes.includes(one.axis) ? one.axis : ["roll", "pitch", "yaw"][index],
    points: one.density.map((density, bin) => [bin * report.resolution_hz, 10 * Math.log10(Math.max(density, 1e-12))]),
  }));
  const peaks = report.axes.flatMap((one) => one.peaks.map((peak) => `${one.axis} ${fixed(peak.hz, 1)} Hz (${fixed(peak.prominence_db, 0)} dB, ${fixed(peak.rms_dps, 3)} °/s)`));
  return [plot("Spectrum of the gyroscope", {
    x: { label: "Hz", isLog: true, low: Math.max(2, report.resolution_hz), high: report.sample_rate_hz / 2 }, y: { label: "dB of 1 (°/s)²/Hz" }, curves,
    note: peaks.length ? `Peaks: ${peaks.join(", ")}.` : "No peak is narrow enough for a notch filter.",
  })];
}

function bodePlots(one) {
  const points = (list, key) => list.map((point) => [point.hz, point[key]]);
  const range = { label: "Hz", isLog: true };
  const curves = (key) => [
    { name: "measured", className: "care", isDots: true, points: points(one.measured, key) },
    { name: "model", className: one.axis, points: points(one.model, key) },
    { name: "open loop with the proposed gains", className: "soft", points: points(one.loop, key) },
  ].filter((curve) => curve.points.length);
  // A servo has a lag instead of an inertia.
  const response = Number.isFinite(one.lag_ms) ? `Lag ${fixed(one.lag_ms, 2)} ms, gain ${fixed(one.gain, 2)}` : `Inertia ${fixed(one.inertia_kg_m2 * 1000, 3)} g·m²`;
  const note = `${response}, delay ${fixed(one.delay_ms, 2)} ms, margins ${fixed(one.gain_margin_db, 1)} dB up, ${fixed(one.gain_margin_down_db, 1)} dB down, ${fixed(one.phase_margin_deg, 0)}° at ${fixed(one.crossover_hz, 1)} Hz.`;
  return [plot(`${one.axis}: amplitude`, { x: range, y: { label: "dB" }, curves: curves("db") }),
    plot(`${one.axis}: phase`, { x: range, y: { label: "°" }, curves: curves("deg"), note })];
}
