// Forms of settings, made from the daemon's own list: key, range, unit, summary, default.

import { attempt, el, plain, setText } from "./dom.js";

/** Kind of control for a setting, from the daemon's type of the setting; the bounds are in the text of its range. */
export function kind({ type, range }) {
  const numbers = range.match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g)?.map(Number) ?? [];
  switch (type) {
    case "bool": return { type };
    case "choice": return { type, choices: range.split(" | ") };
    case "integer":
    case "number": return { type: "number", low: numbers[0], high: numbers[1], isWhole: type === "integer" };
    case "triple": return { type: "vector", low: numbers[0], high: numbers[1], names: ["yaw", "roll", "pitch"] };
    case "pid": return { type: "vector", names: ["p", "i", "d"], bounds: [0, 2, 4].map((i) => numbers.slice(i, i + 2)) };
    case "signs":
    case "ranges":
    case "notches":
    case "bindings": return { type: "json" };
    default: return { type: "text" };
  }
}

/** Largest number of steps of a slider. */
const positions = 1000;

/**
 * Slider of a number: its scale is logarithmic if the range of a number with a fraction spans more than three decades. Each position has
 * its own value, so that every press of an arrow key changes the value.
 */
class Slider {
  constructor({ low, high, isWhole }, value, label, change) {
    this.isWhole = isWhole;
    this.isLog = !isWhole && low > 0 && high / low > 1000;
    this.low = low;
    this.high = high;
    // A slider of a few whole numbers has one step for each of them.
    const step = isWhole ? Math.max(1, Math.floor(positions / (high - low))) : 1;
    this.end = isWhole ? Math.min(positions, step * (high - low)) : positions;
    this.node = el("input", {
      type: "range", min: 0, max: this.end, step, "aria-label": label,
      oninput: () => change(this.value, false), onchange: () => change(this.value, true),
    });
    this.set(value);
  }

  /** Present value of the slider: a whole number, or the number with the fewest digits, at least three, that has the slider's position. */
  get value() {
    const position = Number(this.node.value);
    const part = position / this.end;
    const raw = this.isLog ? this.low * (this.high / this.low) ** part : this.low + part * (this.high - this.low);
    if (this.isWhole) return Math.round(raw);
    for (let digits = 3; digits < 8; digits += 1) {
      const value = Number(raw.toPrecision(digits));
      if (this.#position(value) === position) return value;
    }
    return raw;
  }

  /** Position of a value. */
  #position(value) {
    const part = this.isLog ? Math.log(value / this.low) / Math.log(this.high / this.low) : (value - this.low) / (this.high - this.low);
    return Math.round(this.end * Math.min(1, Math.max(0, part)));
  }

  set(value) {
    this.node.value = this.#position(value);
    this.node.setAttribute("aria-valuetext", plain(value));
  }
}

/** One setting with its controls. A change is first a trial of some seconds, if the setting can change while airframed runs. */
export class SettingForm {
  constructor(setting, page) {
    this.page = page;
    const edit = (isEdited) => () => (this.isEdited = isEdited);
    const end = edit(false);
    // A slider that is moved back to its first value causes no event `change`.
    this.node = el("div", {
      class: "setting", "data-key": setting.key, oninput: edit(true), onchange: end, onfocusout: end, onpointerup: end, onpointercancel: end,
    });
    this.#show(setting);
  }

  /**
   * Shows a newer state of the setting, unless the user is changing its value, or airframed has not answered the newest change: new
   * controls would discard the next key presses, or typed digits. The form is then marked as obsolete.
   */
  update(setting) {
    if (this.isBusy) this.isObsolete = true;
    else this.#show(setting);
  }

  /** True from the beginning of the user's change until its answer. */
  get isBusy() { return Boolean(this.isEdited || this.newest); }

  #show(setting) {
    this.setting = setting;
    this.isObsolete = false;
    const { key, unit, range, summary } = setting;
    const isChanged = JSON.stringify(setting.value) !== JSON.stringify(setting.default);
    this.problem = el("p", { class: "bad alert", role: "alert" });
    // The new controls replace the old ones, so the control with the focus gets it again.
    const focus = this.node.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    this.node.replaceChildren(
      el("h4", {}, key,
        isChanged ? el("span", { class: "tag care" }, "changed") : null,
        typeof setting.rollback_s === "number" ? el("span", { class: "tag care" }, "temporary") : null,
        setting.live ? null : el("span", { class: "tag soft" }, "needs a restart")),
      el("p", { class: "hint" }, summary),
      this.#controls(),
      el("p", { class: "hint" }, `Range ${range}${unit ? ` ${unit}` : ""}, default ${plain(setting.default)}; origin of the present value: ${setting.origin}.`),
      el("p", { class: "care", hidden: !setting.warning }, setting.warning ?? ""), this.problem);
    if (focus) [...this.node.querySelectorAll("[aria-label]")].find((node) => node.getAttribute("aria-label") === focus)?.focus();
  }

  #controls() {
    const { setting } = this;
    if (!setting.live) return el("p", {}, el("strong", {}, plain(setting.value)), setting.unit ? ` ${setting.unit}` : "", ` – ${remedy(setting)}`);
    const form = kind(setting);
    const { key, value } = setting;
    switch (form.type) {
      case "bool":
        return el("label", { class: "line" }, el("input", { type: "checkbox", "aria-label": `${key}, on`, checked: value === true, onchange: (event) => this.#try(event.target.checked) }), "on");
      case "choice":
        return el("label", {}, el("span", {}, "Value"), el("select", { "aria-label": key, onchange: (event) => this.#try(event.target.value) },
          form.choices.map((choice) => el("option", { value: choice, selected: choice === String(value) }, choice))));
      case "number":
        return el("div", { class: "fields" }, this.#number(form, value, key, (next) => this.#try(next)));
      case "vector": {
        // A request contains all elements, also the changes that airframed has not answered yet.
        const values = [...value];
        return el("div", { class: "fields" }, form.names.map((name, index) => {
          const [low, high] = form.bounds?.[index] ?? [form.low, form.high];
          return this.#number({ ...form, low, high }, value[index], `${key}, ${name}`, (next) => {
            values[index] = next;
            return this.#try([...values]);
          }, name);
        }));
      }
      default: {
        const input = el("input", { type: "text", "aria-label": key, value: typeof value === "string" ? value : JSON.stringify(value), class: "grow" });
        return el("div", { class: "row" }, input, el("button", { type: "button", onclick: () => {
          // airframed reads a string as TOML; in quotation marks, any text is a string of TOML.
          let next = input.value;
          try { next = form.type === "json" ? JSON.parse(input.value) : JSON.stringify(input.value); } catch { /* The daemon explains it. */ }
          this.#try(next);
        } }, "Try"));
      }
    }
  }

  #number(form, value, label, change, name) {
    // A trial of an unchanged value would have no effect. The form can still show an older value than the newest request.
    let wanted = value;
    const want = (next) => {
      if (next === wanted) return;
      wanted = next;
      change(next);
    };
    const input = el("input", { type: "number", value: plain(value), min: form.low, max: form.high, step: "any", "aria-label": label,
      onchange: () => input.value !== "" && want(Number(input.value)) });
    const slider = new Slider(form, value, `${label}, slider`, (next, isFinal) => {
      input.value = next;
      if (isFinal) want(next);
    });
    return el("div", {}, name ? el("span", { class: `hint ${name}` }, name) : null, input, slider.node);
  }

  async #try(value) {
    setText(this.problem, "");
    const { key } = this.setting;
    const own = (this.newest = {});
    const setting = await this.page.trials.begin(key, value, this.page.trialSeconds ?? 30);
    const fresh = setting?.key ? setting : (await attempt(() => this.page.link.request("get", { keys: [key] }), true))?.[0];
    // An earlier answer does not contain the value of a later request.
    if (own !== this.newest) return;
    this.newest = null;
    if (fresh) this.update(fresh);
  }
}

/** Advice for a setting whose new value takes effect at the next start. The origin of its value determines the place of the change. */
function remedy({ origin }) {
  if (origin === "saved") return "the set-up has saved this value. Repeat its step in the view Set up; a restart of airframed applies the new value.";
  if (origin === "--set") return "the command line of airframed sets this value. Change --set there; a restart of airframed applies the new value.";
  return "change it in the configuration file; a restart of airframed applies the new value. A value that the set-up saves overrides the file.";
}

/** Sections of the settings, in the daemon's order. */
export function sections(settings) {
  const result = new Map();
  for (const setting of settings) {
    const name = setting.key.slice(0, setting.key.indexOf("."));
    if (!result.has(name)) result.set(name, []);
    result.get(name).push(setting);
  }
  return result;
}
