// Drive: attitude, modes, joystick pad, turns to angles, who is in control.

import { attempt, el, fixed, setText } from "../dom.js";
import { axes } from "../live.js";
import { Pad } from "../pad.js";
import { People } from "../people.js";
import { Scene } from "../scene.js";

const titles = { pan_follow: "Pan follow", fpv: "FPV" };
const name = (mode) => titles[mode] ?? mode[0].toUpperCase() + mode.slice(1).replace("_", " ");

export class DriveView {
  title = "Drive";

  constructor(page) {
    Object.assign(this, page);
    this.canvas = el("canvas", { class: "scene", role: "img", "aria-label": "Attitude of the camera" });
    this.values = Object.fromEntries(axes.map((axis) => [axis, el("dd", { "data-live": axis }, "–")]));
    this.pad = new Pad(this.link, this.live);
    this.modes = el("div", { class: "row", role: "group", "aria-label": "Mode" });
    this.presets = el("div", { class: "row", role: "group", "aria-label": "Speed of the modes that follow the handle" });
    this.baselines = el("div", { class: "row" });
    this.holder = el("p");
    this.people = new People((method, params) => this.#ask(method, params));
    this.nodes = [el("h1", {}, "Drive"), el("div", { class: "split two drive" }, this.#left(), this.#right(), this.#more())];
    this.onValues = () => this.#draw();
    this.onStatus = () => this.#status();
    this.onChange = () => this.#rights();
    this.live.addEventListener("values", this.onValues);
    this.live.addEventListener("status", this.onStatus);
    this.session.addEventListener("change", this.onChange);
    this.link.addEventListener("open", this.onOpen = () => this.#load());
    this.trials.addEventListener("change", this.onTrial = () => this.#showPreset());
  }

  show() {
    this.scene = new Scene(this.canvas);
    this.#rights();
    this.#status();
    this.#load();
  }

  close() {
    this.pad.close();
    this.people.close();
    this.live.removeEventListener("values", this.onValues);
    this.live.removeEventListener("status", this.onStatus);
    this.session.removeEventListener("change", this.onChange);
    this.link.removeEventListener("open", this.onOpen);
    this.trials.removeEventListener("change", this.onTrial);
  }

  #left() {
    return el("div", { class: "split" },
      el("section", { class: "card", "aria-label": "Attitude" }, this.canvas,
        el("dl", { class: "angles" }, axes.map((axis) => el("div", {}, el("dt", {}, axis), this.values[axis])))),
      this.people.node);
  }

  #right() {
    const speed = el("output", { for: "speed" }, "30°/s");
    return el("div", { class: "split" },
      el("section", { class: "card", "aria-label": "Joystick" }, this.pad.node,
        el("label", { for: "speed" }, el("span", {}, "Largest rate ", speed)),
        el("input", { type: "range", id: "speed", min: 2, max: 120, step: 1, value: 30, oninput: (event) => {
          this.pad.speed = Number(event.target.value);
          setText(speed, `${event.target.value}°/s`);
        } }),
        el("button", { type: "button", onclick: () => this.#ask("recentre") }, "Recentre"),
        this.pad.state, this.pad.help),
      this.people.controls,
      el("section", { class: "card" }, el("h2", {}, "Mode"), this.modes));
  }

  #more() {
    return el("div", { class: "split" },
      el("section", { class: "card" }, el("h2", {}, "Turn to angles"), this.#form()),
      el("section", { class: "card" }, el("h2", {}, "Response"), this.presets,
        el("h3", {}, "Stored tunings"), this.baselines),
      el("section", { class: "card" }, el("h2", {}, "Control"), this.holder,
        el("div", { class: "row" },
          el("button", { type: "button", onclick: () => this.#ask("take") }, "Take control"),
          el("button", { type: "button", onclick: () => this.#ask("release") }, "Release"))));
  }

  #form() {
    const field = (id, text, value, min, max) => el("label", { for: id }, text,
      el("input", { type: "number", id, name: id, value, min, max, step: "any", inputmode: "text" }));
    return el("form", { onsubmit: (event) => {
      event.preventDefault();
      const data = new FormData(event.target);
      const params = {};
      for (const [key, text] of data) if (text !== "") params[key] = Number(text);
      this.#point(params);
    } },
      el("div", { class: "fields" },
        field("yaw", "Yaw, ° right", "0", -180, 180), field("pitch", "Pitch, ° up", "0", -180, 180),
        field("roll", "Roll, ° right side down", "", -180, 180), field("duration", "Duration, s", "2", 0, 600)),
      el("p", {}, el("button", { type: "submit", class: "main" }, "Turn")));
  }

  async #load() {
    if (!this.link.isOpen) return;
    const settings = await attempt(() => this.link.request("get", { keys: ["mode.boot", "follow.preset"] }), true);
    if (!Array.isArray(settings)) return;
    const choices = Object.fromEntries(settings.map((setting) => [setting.key, setting.range.split(" | ")]));
    this.modes.replaceChildren(...[...choices["mode.boot"], "tracking"].map((mode) =>
      el("button", { type: "button", "data-mode": mode, onclick: () => this.#ask("mode", { mode }) }, name(mode))));
    this.defaultPreset = settings.find((setting) => setting.key === "follow.preset").default;
    this.presets.replaceChildren(...choices["follow.preset"].map((value) =>
      el("button", { type: "button", "data-preset": value, onclick: () => this.#preset(value) }, name(value))));
    this.#showPreset();
    const names = (await attempt(() => this.link.request("baseline"), true))?.names ?? [];
    this.baselines.replaceChildren(...(names.length
      ? names.map((baseline) => el("button", { type: "button",
        onclick: () => this.#ask("baseline", { action: "restore", name: baseline }) }, baseline))
      : [el("p", { class: "hint" }, "The view Tune stores tunings under a name.")]));
    this.#status();
  }

  async #preset(value) {
    await attempt(() => this.link.request("set", { key: "follow.preset", value }), true);
    await this.trials.read();
  }

  /** Marks the present preset, also after a change by another client and after the end of a temporary change. */
  #showPreset() {
    if (!this.trials.differences) return;
    const change = this.trials.differences.find((other) => other.key === "follow.preset");
    const preset = change?.value ?? this.defaultPreset;
    for (const button of this.presets.children) button.setAttribute("aria-pressed", button.dataset.preset === preset);
  }

  #point(params) { return this.#ask("point", params); }

  async #ask(method, params) {
    await attempt(() => this.link.request(method, params));
    this.live.poll();
  }

  #draw() {
    // One drawing every 30 ms is sufficient for the eye, and leaves time for touch events.
    const now = performance.now();
    if (now - (this.drawn ?? 0) < 30) return;
    this.drawn = now;
    const attitude = this.live.axes("attitude");
    this.scene?.draw({ attitude, setpoint: this.live.axes("setpoint"), joint: this.live.axes("joint") });
    for (const axis of axes) setText(this.values[axis], `${fixed(attitude[axis])}°`);
    if (!document.documentElement.dataset.live) performance.mark("first-live");
    document.documentElement.dataset.live = "1";
  }

  #status() {
    const status = this.live.status;
    if (!status) return;
    const { yaw_deg: yaw, roll_deg: roll, pitch_deg: pitch } = status.attitude;
    this.canvas.setAttribute("aria-label",
      `Attitude of the camera: yaw ${fixed(yaw, 0)}°, roll ${fixed(roll, 0)}°, pitch ${fixed(pitch, 0)}°`);
    for (const button of this.modes.children) button.setAttribute("aria-pressed", button.dataset.mode === status.mode);
    const isMine = status.holder && status.holder === this.link.identity?.name;
    setText(this.holder, isMine ? "You are in control." : status.holder ? `In control: ${status.holder}.` : "No client is in control.");
    this.people.show(status.companions, this.link.canWrite);
  }

  #rights() { this.pad.node.setAttribute("aria-disabled", !this.link.canWrite); }
}
