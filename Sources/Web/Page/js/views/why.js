// Why: the state in one sentence, its reasons, the doctor's list, the client in control, changes and log.

import { attempt, el, fixed, rich, setText, twice } from "../dom.js";
import { axes, isStopped, summary } from "../live.js";
import { Requests } from "../requests.js";

const doctorPeriod = 5000;

/** Buttons that remove a reason: text, method and parameters, by the daemon's name of the reason. */
const remedies = {
  emergency_stop: ["Reset the stop", "reset_stop", {}],
  inactive_mode: ["Switch on (locked)", "mode", { mode: "locked" }],
};

export class WhyView {
  title = "Why";

  constructor(page) {
    Object.assign(this, page);
    this.headline = el("p", { class: "big", role: "status" });
    this.reasons = el("ul", { class: "plain" });
    this.notices = el("ul", { class: "plain" });
    this.control = el("div");
    this.reset = this.#button("Reset the stop", "reset_stop");
    this.reset.hidden = true;
    this.numbers = el("tbody");
    this.checks = el("ul", { class: "plain", id: "checks" });
    this.count = el("p", { class: "hint" });
    this.history = el("ul", { class: "plain" });
    this.log = el("pre", { tabindex: 0, "aria-label": "Log" });
    this.nodes = [
      el("h1", {}, "Why does the camera move, or not move?"),
      el("section", { class: "card", "aria-label": "State" }, this.headline, this.reasons, this.notices),
      el("div", { class: "split two" },
        el("section", { class: "card" }, el("h2", {}, "Doctor"), this.count, this.checks),
        el("div", { class: "split" },
          el("section", { class: "card" }, el("h2", {}, "Control"), this.control,
            el("div", { class: "row" }, this.#button("Take control", "take"), this.#button("Release", "release"), this.reset)),
          el("section", { class: "card" }, el("h2", {}, "Values"), el("div", { class: "scroll" }, el("table", {},
            el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "quantity"), axes.map((axis) => el("th", { scope: "col", class: "number" }, axis)))), this.numbers))),
          el("section", { class: "card" }, el("h2", {}, "Changes of settings"), this.history),
          el("section", { class: "card" }, el("h2", {}, "This browser"),
            el("div", { class: "row" }, el("button", { type: "button", onclick: () => this.session.open() }, "Pair"),
              twice("Forget this browser", "Forget this browser?", () => this.session.unpair()))))),
      el("section", { class: "card" }, el("h2", {}, "Log"), this.log),
      new Requests(this.link).node,
    ];
    this.live.addEventListener("status", this.onStatus = () => this.#status());
    this.link.addEventListener("open", this.onOpen = () => {
      // After a restart of airframed, the log begins with sequence number 0 again.
      this.next = null;
      this.lines = [];
      this.#read();
    });
    this.timer = setInterval(() => this.#read(), doctorPeriod);
  }

  show() {
    this.#status();
    this.#read();
  }

  close() {
    this.live.removeEventListener("status", this.onStatus);
    this.link.removeEventListener("open", this.onOpen);
    clearInterval(this.timer);
  }

  #button(text, method, params = {}) {
    return el("button", { type: "button", onclick: async () => {
      await attempt(() => this.link.request(method, params));
      this.live.poll();
    } }, text);
  }

  #status() {
    const status = this.live.status;
    if (!status) return;
    const { headline, role, sentences } = summary(status);
    this.reset.hidden = !isStopped(status);
    setText(this.headline, headline);
    this.headline.className = `big ${role}`;
    list(this.reasons, sentences, (text) => {
      const reason = status.inhibitions.find((other) => other.sentence === text);
      // The motors come on only after the reset of the stop, so the reset is the first remedy.
      const remedy = reason?.name === "inactive_mode" && status.inhibitions.length > 1 ? null : remedies[reason?.name];
      return el("li", {}, rich(text), remedy ? el("p", {}, this.#button(...remedy)) : null);
    });
    list(this.notices, status.notices.map((notice) => notice.sentence), (text) => el("li", { class: "soft" }, rich(text)));
    const lines = [
      `Mode ${status.mode}, outputs ${status.state}.`,
      status.holder ? `In control: ${status.holder}${status.holder_age_s === undefined ? "" : `, last message ${fixed(status.holder_age_s, 0)} s ago`}.` : "No client is in control.",
      status.stopped_by ? `Emergency stop by ${status.stopped_by}.` : null,
      status.control_lost ? `${status.control_lost}.` : null,
      status.last_refusal ? `${status.refusals} ${status.refusals === 1 ? "request" : "requests"} refused, last: ${status.last_refusal}` : null,
    ].filter(Boolean);
    list(this.control, lines, (text) => el("p", {}, rich(text)));
    const row = (label, values, decimals, unit) => el("tr", {}, el("th", { scope: "row" }, `${label}, ${unit}`),
      axes.map((axis) => el("td", { class: "number" }, fixed(values[axis], decimals))));
    const { attitude } = status;
    this.numbers.replaceChildren(
      row("attitude", { yaw: attitude.yaw_deg, roll: attitude.roll_deg, pitch: attitude.pitch_deg }, 2, "°"),
      row("error", status.error_deg, 3, "°"), row("rate", status.rate_dps, 2, "°/s"), row("joint", status.joints.angle_deg, 1, "°"),
      row("torque", status.motors.torque_nm, 4, "N·m"), row("gain margin", status.control.gain_margin_db, 1, "dB"),
      row("phase margin", status.control.phase_margin_deg, 0, "°"));
  }

  async #read() {
    if (!this.link.isOpen || this.isReading) return;
    this.isReading = true;
    try {
      const checks = await this.link.request("doctor");
      const bad = checks.filter((check) => check.level !== "ok").length;
      setText(this.count, bad ? `${bad} of ${checks.length} checks ${bad === 1 ? "needs" : "need"} attention.` : `All ${checks.length} checks have passed.`);
      const order = { fail: 0, warn: 1, ok: 2 };
      checks.sort((a, b) => order[a.level] - order[b.level]);
      list(this.checks, checks.map((check) => JSON.stringify(check)), (text) => this.#check(JSON.parse(text)));
      const entries = await this.link.request("history");
      list(this.history, entries.slice(-8).reverse().map((entry) => `${new Date(entry.time * 1000).toLocaleString()} ${entry.what}, by ${entry.who}`),
        (text) => el("li", {}, text));
      if (!entries.length) setText(this.history, "No setting has changed.");
      await this.#readLog();
    } catch {
      // The link reports a lost connection.
    } finally {
      this.isReading = false;
    }
  }

  async #readLog() {
    // Without `since`, airframed returns the newest lines.
    const since = Number.isInteger(this.next) ? { since: this.next } : {};
    const page = await this.link.request("log", { ...since, limit: 200 });
    this.next = page.next;
    this.lines = [...(this.lines ?? []), ...page.lines].slice(-200);
    if (page.lines.length) setText(this.log, this.lines.map((line) => `${line.t.toFixed(2)} ${line.level} ${line.message}`).reverse().join("\n"));
  }

  #check(check) {
    const [role, word] = { ok: ["good", "ok"], warn: ["care", "warning"], fail: ["bad", "problem"] }[check.level];
    return el("li", {}, el("strong", { class: role }, word), ` ${check.name}: `, rich(check.finding),
      check.remedy ? el("p", { class: "hint" }, "Remedy: ", rich(check.remedy)) : null);
  }
}

/** Shows texts as children, and changes them only if the texts have changed. */
function list(node, texts, make) {
  const key = texts.join("\n");
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  node.replaceChildren(...texts.map(make));
}
