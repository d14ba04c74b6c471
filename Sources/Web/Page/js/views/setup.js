// Set up: the steps from wired parts to a stabilised camera. The user can leave and resume each step.

import { attempt, el, fixed, plain, rich, sentence, setText, twice } from "../dom.js";
import { axes, summary } from "../live.js";
import { pictures } from "../poses.js";

const pollPeriod = 400;
/** Duration of the motion of a single motor, ms. Each request moves the motor for half a second. */
const testPeriod = 7000;
/** Names of the daemon's steps that differ from the names on the page. */
const daemonNames = { sensors: "chips" };
/** States of a running calibration. */
const busy = ["waiting", "collecting"];
/** Conditions that result from failed transfers, as in `airframectl doctor`. Without these conditions, the last error is an earlier one. */
const busFaults = ["bus_error", "imu_missing", "imu_stale", "encoder_missing"];

export class SetupView {
  title = "Set up";

  constructor(page) {
    Object.assign(this, page);
    this.marks = {};
    this.steps = [
      { name: "sensors", title: "Chips", build: (body) => this.#chips(body) },
      { name: "gyro", title: "Calibrate the gyroscope", build: (body) => this.#calibration(body, "gyro") },
      { name: "mounting", title: "Mounting of the sensor", build: (body) => this.#calibration(body, "mounting") },
      { name: "accelerometer", title: "Calibrate the accelerometer", build: (body) => this.#calibration(body, "accelerometer") },
      { name: "motors", title: "Motors, one by one", build: (body) => this.#motors(body) },
      { name: "joints", title: "Range of the joints", build: (body) => this.#joints(body) },
      { name: "locked", title: "First test with the motors on", build: (body) => this.#locked(body) },
      { name: "balance", title: "Balance", build: (body) => this.#balance(body) },
      { name: "save", title: "Save", build: (body) => this.#save(body) },
    ];
    this.count = el("p", { class: "hint", role: "status" });
    this.list = el("ol", { class: "steps" }, this.steps.map((step) => this.#row(step)));
    this.nodes = [el("h1", {}, "Set up"), el("section", { class: "card", "aria-label": "Steps" },
      el("p", {}, "Keep your hand at the switch of the motors' supply. You can leave a step at any time; the list marks finished steps."),
      this.count, this.list,
      el("p", {}, el("button", { type: "button", onclick: () => this.#forget() }, "Begin again")))];
  }

  async show() {
    await this.#resume();
    if (this.isClosed) return;
    this.#mark();
    // The user can open a step before the daemon answers.
    if (this.steps.some((step) => step.node.open)) return;
    (this.steps.find((step) => !this.marks[step.name]) ?? this.steps[0]).node.open = true;
  }

  close() { this.leave?.(); this.isClosed = true; }

  #row(step) {
    step.sign = el("span", { class: "mark", "aria-hidden": "true" });
    step.state = el("span", { class: "hint" });
    step.body = el("div");
    step.node = el("details", { "data-step": step.name, ontoggle: () => (step.node.open ? this.#open(step) : this.#leave(step)) },
      el("summary", {}, step.sign, step.title, " ", step.state), step.body);
    return el("li", {}, step.node);
  }

  #open(step) {
    for (const other of this.steps) if (other !== step) other.node.open = false;
    this.leave?.();
    this.leave = null;
    step.body.replaceChildren();
    step.build(step.body);
    step.body.append(el("div", { class: "row" },
      el("button", { type: "button", class: "quiet", onclick: () => this.#finish(step.name, "skipped") }, "Skip this step"),
      el("button", { type: "button", class: "quiet", onclick: () => this.#undo(step) }, "Undo this step")));
  }

  #leave(step) {
    if (!this.steps.some((other) => other.node.open)) { this.leave?.(); this.leave = null; }
    step.body.replaceChildren();
  }

  /** Marks a step if airframed accepts the mark, and opens the next step. */
  async #finish(name, mark = "done") {
    const params = { action: mark === "skipped" ? "skip" : "confirm", step: daemonNames[name] ?? name };
    if (!await attempt(() => this.link.request("setup", params), true) || this.isClosed) return;
    this.marks[name] = mark;
    this.#mark();
    const index = this.steps.findIndex((step) => step.name === name);
    const next = this.steps.slice(index + 1).find((step) => !this.marks[step.name]);
    this.steps[index].node.open = false;
    if (!next) return;
    next.node.open = true;
    next.node.querySelector("summary").focus();
  }

  /** Restores the settings or the calibration from before a step, and opens the step again. */
  async #undo(step) {
    if (!await attempt(() => this.link.request("setup", { action: "undo", step: daemonNames[step.name] ?? step.name }))) return;
    delete this.marks[step.name];
    this.#mark();
    if (step.node.open) this.#open(step);
  }

  async #forget() {
    if (!await attempt(() => this.link.request("setup", { action: "again" }), true) || this.isClosed) return;
    this.marks = {};
    this.#mark();
    this.steps[0].node.open = true;
  }

  /** Reads the finished steps from the daemon, which remembers them for every client. */
  async #resume() {
    for (let attempts = 0; attempts < 20 && !this.isClosed; attempts += 1) {
      try {
        const report = await this.link.request("setup");
        for (const step of this.steps) {
          const { state } = report.steps.find((other) => other.name === (daemonNames[step.name] ?? step.name)) ?? {};
          if (state === "done" || state === "skipped") this.marks[step.name] = state;
        }
        return;
      } catch { /* The page connects; without a connection, all steps are open. */ }
      await new Promise((resolve) => setTimeout(resolve, pollPeriod));
    }
  }

  /** Runs a step of the daemon until its end, or until the user leaves the step; returns its last state. */
  async #run(name, show) {
    let isLeft = false;
    const leave = this.leave;
    this.leave = () => {
      leave?.();
      isLeft = true;
    };
    const find = (report) => report.steps.find((step) => step.name === name);
    let step = find(await this.link.request("setup", { action: "start", step: name }));
    while (step.state === "running") {
      if (isLeft) {
        this.link.request("setup", { action: "cancel" }).catch(() => {});
        return null;
      }
      show(step);
      await new Promise((resolve) => setTimeout(resolve, pollPeriod));
      step = find(await this.link.request("setup"));
    }
    return isLeft ? null : step;
  }

  /**
   * Shows why a step cannot start. If another step or a calibration is running, a button ends it: after the network has lost a connection,
   * its steps run for up to half a minute.
   */
  async #refuse(node, error) {
    node.replaceChildren(...rich(sentence(error)));
    const ask = (action) => Promise.all(["setup", "calibrate"].map((method) => this.link.request(method, { action })));
    const [{ steps }, { state }] = await ask("status").catch(() => [{ steps: [] }, {}]);
    if (!steps.some((step) => step.state === "running") && !busy.includes(state)) return;
    node.append(" ", twice("Cancel it", "Cancel it?", async () => {
      if (await attempt(() => ask("cancel"), true)) node.replaceChildren();
    }));
  }

  #mark() {
    const done = this.steps.filter((step) => this.marks[step.name]).length;
    setText(this.count, done === this.steps.length ? "All steps are finished: the gimbal is ready." : `${done} of ${this.steps.length} steps are finished.`);
    for (const step of this.steps) {
      const mark = this.marks[step.name];
      setText(step.sign, { done: "✓", skipped: "–" }[mark] ?? "○");
      setText(step.state, mark ?? "");
    }
  }

  /** Calls a function with the newest status, until the user leaves the step. */
  #watch(change) {
    const listener = () => this.live.status && change(this.live.status);
    this.live.addEventListener("status", listener);
    this.leave = () => this.live.removeEventListener("status", listener);
    listener();
  }

  async #chips(body) {
    const state = el("ul", { class: "plain" });
    const next = el("button", { type: "button", class: "main", onclick: () => this.#finish("sensors") }, "The chips are correct");
    const found = el("div", { role: "status" });
    body.append(el("p", {}, "The following chips are configured. If a chip is missing, correct the section hardware of the configuration file, and restart airframed."), state,
      el("div", { class: "row" }, el("button", { type: "button", onclick: () => this.#search(found) }, "Search the buses")), found, next);
    const settings = await attempt(() => this.link.request("get", { keys: ["hardware"] }), true);
    // The user can have left the step. Until the event `toggle`, its nodes remain, but `leave` already belongs to the next step.
    if (!state.closest("details")?.open || !Array.isArray(settings)) return;
    const value = Object.fromEntries(settings.map((setting) => [setting.key, setting.value]));
    const backend = value["hardware.backend"];
    const lines = backend !== "linux" ? [`hardware.backend is ${backend}: nothing needs to be wired.`]
      : [`sensor ${value["hardware.linux.imu"]} on ${value["hardware.linux.imu_interface"] === "spi" ? value["hardware.linux.imu_spi"] : value["hardware.linux.bus"]}`,
        `motors ${value["hardware.linux.motors"]}, channels ${plain(value["hardware.linux.motor_channels"])}`, `encoders ${value["hardware.linux.encoders"]}`];
    this.#watch((status) => {
      const isFailing = status.inhibitions.some(({ name }) => busFaults.includes(name));
      const fault = status.imu.set_up_failure ?? status.joints.encoder_failure ?? (isFailing ? status.faults.last_error : null);
      state.replaceChildren(...lines.map((line) => el("li", {}, line)),
        el("li", { class: fault || !status.imu.samples ? "bad" : "good" }, fault ? `Problem: ${fault}` : status.imu.samples
          ? `The sensor delivers ${fixed(status.imu.rate_hz, 0)} samples per second.` : "The sensor has not delivered a sample."));
      next.disabled = !status.imu.samples;
    });
  }

  /** Lists the chips that answer on the buses, and the settings that airframed proposes for them. */
  async #search(node) {
    node.replaceChildren("Searching …");
    const report = await attempt(() => this.link.request("hardware"), true);
    if (!report) return node.replaceChildren();
    const buses = [...report.i2c, ...report.spi].flatMap((bus) => [
      ...bus.chips.map((chip) => `${bus.path}: ${chip.name}`), ...(bus.problem ? [`${bus.path}: ${bus.problem}`] : [])]);
    const devices = [...report.iio, ...[...report.can, ...report.serial].map((device) => `${device.path} ${device.name}`)];
    const lines = [...buses, ...devices];
    node.replaceChildren(el("ul", { class: "plain" }, (lines.length ? lines : ["No chip and no device was found."]).map((line) => el("li", {}, line))),
      el("p", {}, "Proposal for /etc/airframe/airframed.toml:"), el("pre", {}, report.proposal.lines.join("\n")),
      ...(report.proposal.profile ? [el("p", {}, `Profile of this board, with pins: /usr/share/doc/airframe/examples/${report.proposal.profile}`)] : []),
      ...report.proposal.unknown.map((note) => el("p", { class: "hint" }, note)));
  }

  #calibration(body, kind) {
    const texts = {
      gyro: "The camera must be still for a few seconds. The motors are off during the calibration.",
      accelerometer: "Hold the camera still on each of its six sides, in any order. The upright pose must be level.",
      mounting: "Level the camera exactly, then tilt the lens down.",
    };
    const instruction = el("p", { class: "big", "aria-live": "polite" });
    const hint = el("p", { class: "care", "aria-live": "polite" });
    const poses = el("div");
    const progress = el("progress", { max: 1, value: 0, "aria-label": "Progress" });
    const start = el("button", { type: "button", class: "main", onclick: () => run() }, "Start");
    body.append(el("p", {}, texts[kind]), poses, instruction, hint, progress, el("div", { class: "row" }, start));
    poses.append(pictures(kind, null));
    let isRunning = false;
    let isLeft = false;
    const show = (report) => {
      progress.value = report.progress;
      setText(instruction, report.instruction);
      setText(hint, report.hint);
      poses.replaceChildren(pictures(kind, report.missing));
    };
    const cancel = () => this.link.request("calibrate", { action: "cancel" }).catch(() => {});
    const run = async () => {
      start.disabled = true;
      setText(hint, "");
      try {
        if (this.live.status?.mode !== "inactive") await this.link.request("mode", { mode: "inactive" });
        if (isLeft) return;
        let report = await this.link.request("calibrate", { action: "start", what: kind });
        // The user has left the step before this answer. A calibration keeps the motors off, so it must not continue.
        if (isLeft) return void cancel();
        isRunning = true;
        while (isRunning && busy.includes(report.state)) {
          show(report);
          await new Promise((resolve) => setTimeout(resolve, pollPeriod));
          report = await this.link.request("calibrate");
        }
        setText(instruction, report.sentence);
        setText(hint, "");
        if (isRunning && report.state === "done") {
          progress.value = 1;
          setTimeout(() => isRunning && this.#finish(kind), 1200);
        }
      } catch (error) {
        this.#refuse(hint, error);
      }
      start.disabled = false;
    };
    this.leave = () => {
      if (isRunning && start.disabled) cancel();
      isRunning = false;
      isLeft = true;
    };
  }

  /** Nodes of a measurement by a step of the daemon. `begin` is called at its start, `done` after a success. */
  #measurement(name, label, begin, done) {
    const text = el("p", { class: "big", "aria-live": "polite" });
    const hint = el("p", { class: "hint", "aria-live": "polite" });
    const results = el("ul", { class: "plain" });
    const progress = el("progress", { max: 1, value: 0, "aria-label": "Progress" });
    const measure = el("button", { type: "button", class: "main", onclick: async () => {
      measure.disabled = true;
      begin();
      results.replaceChildren();
      try {
        const step = await this.#run(name, (now) => {
          progress.value = now.progress;
          setText(text, now.instruction);
          setText(hint, now.sentence);
        });
        setText(hint, "");
        if (step) {
          progress.value = step.state === "failed" ? 0 : 1;
          setText(text, step.sentence);
          results.replaceChildren(...step.values.map((one) => el("li", {}, `${one.name}: ${fixed(one.value, 2)}${one.unit}`)),
            ...step.changes.map((one) => el("li", {}, `${one.key} = ${one.new} (was ${one.old})`)));
          if (step.state === "done") done();
        }
      } catch (error) {
        this.#refuse(text, error);
      }
      measure.disabled = false;
    } }, label);
    return [el("div", { class: "row" }, measure), progress, text, hint, results];
  }

  #joints(body) {
    const next = el("button", { type: "button", class: "main", disabled: true, onclick: () => this.#finish("joints") }, "The range is right");
    body.append(el("p", {}, "Align the camera with the handle. If encoders measure the joints, the motors are off: turn each joint by hand to both ends, hold it at each end for 2 s, and turn it back. Otherwise each motor turns its joint slowly to both ends: keep hands and cables away."),
      ...this.#measurement("joints", "Measure the joints", () => {}, () => { next.disabled = false; }), next);
  }

  #motors(body) {
    const first = { pitch: "first upwards", roll: "first with the right side down", yaw: "first to the right" };
    const answers = {};
    // The test that moves a motor now: a newer test ends it.
    let test = null;
    this.leave = () => { test = null; };
    const next = el("button", { type: "button", class: "main", disabled: true, onclick: () => this.#finish("motors") }, "All motors turn correctly");
    const problem = el("p", { class: "care", "aria-live": "polite" });
    const measured = this.#measurement("motors", "Measure all motors", () => { test = null; }, () => { next.disabled = false; });
    body.append(el("p", {}, "airframed moves each motor slowly, by at most 16°, and measures its axis, its direction and its angle. Switch the motors' supply on, and hold the handle still and upright."),
      ...measured,
      el("p", {}, "Alternatively, move a single motor and watch the camera:"),
      el("table", {}, ["pitch", "roll", "yaw"].map((axis) => el("tr", {}, el("th", { scope: "row" }, axis),
        el("td", {}, el("button", { type: "button", "data-motor": axis, onclick: async () => {
          // Before the first wait: if the user leaves the step meanwhile, the motor must not move.
          const own = test = {};
          if (this.live.status?.mode !== "inactive") await attempt(() => this.link.request("mode", { mode: "inactive" }), true);
          const end = performance.now() + testPeriod;
          while (test === own && performance.now() < end && await attempt(() => this.link.request("motor_test", { axis }), true)) {
            await new Promise((resolve) => setTimeout(resolve, pollPeriod));
          }
        } }, `Move ${axis}`)),
        el("td", {}, el("fieldset", {}, el("legend", { class: "hint" }, `Turns ${axis}, ${first[axis]}?`),
          el("div", { class: "row" }, ["yes", "no"].map((word) => el("label", { class: "line" },
            el("input", { type: "radio", name: `motor-${axis}`, value: word, onchange: () => {
              answers[axis] = word;
              next.disabled = !["pitch", "roll", "yaw"].every((name) => answers[name] === "yes");
              setText(problem, Object.values(answers).includes("no")
                ? "Wrong axis: correct hardware.linux.motor_channels. Wrong direction: swap two of the three wires of the motor, or change the sign in motors.direction or servo.direction. Then restart airframed."
                : "");
            } }), word)))))))), problem, next);
  }

  #balance(body) {
    const text = el("ul", { class: "plain", "aria-live": "polite" });
    body.append(el("p", {}, "With the motors on, airframed measures the imbalance of the camera. Hold the handle still and upright:"), text,
      el("button", { type: "button", class: "main", onclick: () => this.#finish("balance") }, "The camera is balanced"));
    this.#watch((status) => {
      const { imbalance_gm: offset, torque_limit_nm: limit } = status.motors;
      const sides = [["x", "forward", "backward"], ["y", "right", "left"]];
      const isMeasured = status.enabled && sides.some(([axis]) => Number.isFinite(offset?.[axis]) && offset[axis] !== 0);
      const lines = !isMeasured ? ["Not measured: the motors are off (the previous step switches them on), or this type of motor does not measure the imbalance."]
        : [...sides.map(([axis, more, less]) => {
          const share = Math.abs(offset[axis]) * 9.81e-3 / Math.min(...axes.map((name) => limit[name] || Infinity));
          return share < 0.05 ? `${more} and ${less}: balanced` : `too heavy ${offset[axis] > 0 ? more : less}: ${fixed(Math.abs(offset[axis]), 1)} g·m, ${fixed(share * 100, 0)} % of the weakest motor. Move the camera ${offset[axis] > 0 ? less : more}.`;
        }), "up and down: not measured while the camera is level. `airframectl balance` measures the height."];
      const key = lines.join("\n");
      if (text.dataset.key === key) return;
      text.dataset.key = key;
      text.replaceChildren(...lines.map((line) => el("li", {}, line)));
    });
  }

  #locked(body) {
    const state = el("p", { class: "big", role: "status" });
    const problem = el("p", { class: "care", "aria-live": "polite" });
    const next = el("button", { type: "button", class: "main", disabled: true, onclick: () => this.#finish("locked") }, "The camera is held still");
    body.append(el("p", {}, "Balance the camera first: with the motors off, it must stay where you release it. Then the motors are switched on and hold the camera in its attitude. If the camera moves, touch STOP."),
      el("button", { type: "button", onclick: async () => {
        setText(problem, "");
        try {
          const step = await this.#run("locked", () => {});
          if (step?.state === "failed") setText(problem, step.sentence);
        } catch (error) {
          this.#refuse(problem, error);
        }
      } }, "Switch on (locked)"), state, problem, next);
    let since = null;
    this.#watch((status) => {
      const error = Math.max(...axes.map((axis) => Math.abs(status.error_deg[axis])).filter(Number.isFinite), 0);
      const isStill = status.enabled && status.mode === "locked" && status.state === "running" && error < 1;
      since = isStill ? since ?? performance.now() : null;
      const held = since === null ? 0 : (performance.now() - since) / 1000;
      setText(state, isStill ? `Held for ${fixed(held, 0)} s, error ${fixed(error, 3)}°.` : summary(status).sentences[0] ?? "");
      if (held > 3) next.disabled = false;
    });
  }

  #save(body) {
    body.append(el("p", {}, "This step saves the changed settings, so that they survive a restart. Calibrations are saved already."),
      el("button", { type: "button", class: "main", onclick: async () => {
        const step = await attempt(() => this.#run("save", () => {}));
        if (step?.state === "done") this.#finish("save");
      } }, "Save"));
  }
}
