// Temporary changes. The daemon reverts all of them together. This bar shows the remaining time, and keeps or reverts the changes.

import { attempt, el, plain, setText } from "./dom.js";

/** Interval at which the differences are read again, ms. */
const period = 2000;

export class Trials extends EventTarget {
  constructor({ link, live }, node) {
    super();
    this.link = link;
    this.node = node;
    /** Settings that differ from their default or from their saved value; null before the first answer. */
    this.differences = null;
    this.changes = [];
    this.label = el("span", { role: "status", class: "changes" });
    this.left = el("span", { "aria-hidden": "true", class: "countdown" });
    // Screen readers get the end once, because a countdown would be repeated every second.
    this.until = el("span", { role: "status", class: "spoken" });
    node.append(el("div", { class: "row" }, this.label, this.left, this.until,
      el("button", { type: "button", onclick: () => this.keep() }, "Keep"),
      el("button", { type: "button", onclick: () => this.revert() }, "Revert")));
    link.addEventListener("open", () => this.read());
    link.addEventListener("lost", () => this.#show([]));
    // The status lists the unsaved keys, also those that another client has changed. Other changes appear after a short time.
    live.addEventListener("status", () => {
      const keys = live.status.configuration.unsaved.join();
      if (keys !== this.keys || performance.now() - this.readAt > period) this.read();
      this.keys = keys;
    });
    setInterval(() => this.#tick(), 250);
  }

  /** Changes a setting temporarily; the result is the setting, or null after a refusal. */
  async begin(key, value, seconds) {
    const setting = await attempt(() => this.link.request("set", { key, value, rollback: seconds }), true);
    await this.read();
    return setting;
  }

  /** Reads the temporary changes from the daemon, so that the bar also shows another client's temporary changes. */
  async read() {
    this.readAt = performance.now();
    try {
      const changes = await this.link.request("diff");
      this.differences = changes;
      this.#show(changes.filter((change) => typeof change.rollback_s === "number"));
    } catch {
      // The link reports a lost connection.
    }
    this.dispatchEvent(new Event("change"));
  }

  #show(changes) {
    this.changes = changes;
    this.node.hidden = !changes.length;
    if (!changes.length) {
      this.end = null;
      return;
    }
    setText(this.label, `On trial: ${changes.map((change) => `${change.key} = ${plain(change.value)}`).join("; ")}`);
    const end = performance.now() + changes[0].rollback_s * 1000;
    if (!(Math.abs(end - this.end) < 1500)) {
      setText(this.until, `The changes revert at ${new Date(Date.now() + changes[0].rollback_s * 1000).toLocaleTimeString()}, unless you keep them.`);
    }
    this.end = end;
    this.#tick();
  }

  #tick() {
    if (!this.changes.length) return;
    const left = (this.end - performance.now()) / 1000;
    setText(this.left, `reverts in ${Math.max(0, Math.ceil(left))} s`);
    if (left > -0.2 || this.isReading) return;
    this.isReading = true;
    this.read().finally(() => (this.isReading = false));
  }

  /** Keeps the changes, and saves them. */
  async keep() {
    await attempt(() => this.link.request("save"));
    await this.read();
  }

  /** Reverts the changes: sends a changed value again with the shortest possible time. */
  async revert() {
    const [change] = this.changes;
    // airframed reads a string as TOML; in quotation marks, any text is a string of TOML.
    const text = (value) => (typeof value === "string" ? JSON.stringify(value) : value);
    if (change) await this.begin(change.key, text(change.value), 1);
  }
}
