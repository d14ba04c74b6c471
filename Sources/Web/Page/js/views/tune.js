// Tune: every setting, live charts, measurements, and the stored tunings.

import { attempt, download, el, plain, toast, twice } from "../dom.js";
import { SettingForm, sections } from "../settings.js";
import { Charts } from "./charts.js";
import { Measurements } from "./measurements.js";

export class TuneView {
  title = "Tune";

  constructor(page) {
    this.page = page;
    Object.assign(this, page);
    this.charts = new Charts(page);
    this.measurements = new Measurements(page, () => this.#load());
    this.forms = new Map();
    this.list = el("div");
    this.search = el("input", { type: "search", id: "search", class: "grow", placeholder: "attitude_gain", oninput: () => this.#filter() });
    this.diff = el("div", { id: "differences" });
    this.imported = el("p", { role: "status", class: "hint lines" });
    this.baselines = el("ul", { class: "plain" });
    this.nodes = [
      el("h1", {}, "Tune"),
      el("div", { class: "split two" },
        el("div", { class: "split" }, this.charts.node, this.measurements.node),
        el("div", { class: "split" },
          el("section", { class: "card" }, el("h2", {}, "Settings"), this.#head(), this.list),
          el("section", { class: "card" }, el("h2", {}, "Changes"), this.diff,
            el("div", { class: "row" },
              el("button", { type: "button", class: "main", onclick: () => this.trials.keep().then(() => this.#load()) }, "Save all"),
              el("button", { type: "button", onclick: () => this.#export() }, "Export"),
              el("button", { type: "button", onclick: () => this.file.click() }, "Import")), this.imported),
          el("section", { class: "card" }, el("h2", {}, "Stored tunings"), this.baselines, this.#store()))),
    ];
    this.file = el("input", { type: "file", accept: ".toml,.yaml,.yml,text/plain", hidden: true, "aria-label": "File to import", onchange: () => this.#import() });
    this.nodes.push(this.file);
    this.trials.addEventListener("change", this.onTrial = () => this.#changed());
    this.link.addEventListener("open", this.onOpen = () => {
      this.#load();
      this.measurements.show();
    });
  }

  show() {
    this.charts.show();
    this.measurements.show();
    this.#load();
  }

  close() {
    this.charts.close();
    this.measurements.close();
    this.trials.removeEventListener("change", this.onTrial);
    this.link.removeEventListener("open", this.onOpen);
  }

  #head() {
    const seconds = el("select", { id: "trial", onchange: (event) => (this.page.trialSeconds = Number(event.target.value)) },
      [5, 10, 30, 60, 300].map((value) => el("option", { value, selected: value === (this.page.trialSeconds ?? 30) }, `${value} s`)));
    return el("div", { class: "row" }, el("label", { for: "search", class: "grow" }, "Find", this.search),
      el("label", { for: "trial" }, "A change reverts after", seconds));
  }

  async #load() {
    if (!this.link.isOpen) return;
    const settings = await attempt(() => this.link.request("keys"), true);
    if (!Array.isArray(settings)) return;
    const keys = (list) => list?.map((setting) => setting.key);
    const isSame = isEqual(keys(this.settings), keys(settings));
    this.settings = settings;
    if (isSame) {
      // New forms and controls would discard what the user has typed, for example when the connection is restored.
      for (const setting of settings) {
        const form = this.forms.get(setting.key);
        if (form && (form.isObsolete || !isEqual(form.setting, setting))) form.update(setting);
      }
    } else {
      this.forms.clear();
      const open = new Set([...this.list.querySelectorAll("details[open]")].map((node) => node.dataset.section));
      this.list.replaceChildren(...[...sections(settings)].map(([name, list]) => this.#section(name, list.length, open.has(name))));
    }
    this.#filter();
    await this.trials.read();
    this.#list(await attempt(() => this.link.request("baseline"), true));
  }

  #section(name, count, isOpen) {
    const body = el("div");
    const node = el("details", { "data-section": name, open: isOpen, ontoggle: () => node.open && this.#fill(body, name) },
      el("summary", {}, `${name} (${count})`), body);
    if (isOpen) this.#fill(body, name);
    return node;
  }

  #fill(body, name) {
    if (body.childNodes.length) return;
    for (const setting of this.#settingsIn(name)) {
      const form = new SettingForm(setting, this.page);
      this.forms.set(setting.key, form);
      // A section that the filter opens gets its forms after the filter has run.
      form.node.hidden = !this.#fits(setting);
      body.append(form.node);
    }
  }

  #settingsIn(section) { return this.settings.filter((setting) => setting.key.startsWith(`${section}.`)); }

  /** Words that the user searches for. */
  get #words() { return this.search.value.toLowerCase().split(/\s+/).filter(Boolean); }

  /** True if the key and the summary of a setting contain all words of the search. */
  #fits(setting) {
    const text = `${setting.key} ${setting.summary}`.toLowerCase();
    return this.#words.every((word) => text.includes(word));
  }

  #filter() {
    for (const node of this.list.children) {
      const list = this.#settingsIn(node.dataset.section);
      node.hidden = !list.some((setting) => this.#fits(setting));
      if (this.#words.length && !node.hidden) node.open = true;
      for (const setting of list) {
        const form = this.forms.get(setting.key);
        if (form) form.node.hidden = !this.#fits(setting);
      }
    }
  }

  /** Shows the differences from the saved values and from the defaults, and reads again the settings whose temporary change has ended. */
  async #changed() {
    const changes = this.trials.differences;
    if (!changes) return;
    const isOnTrial = (change) => typeof change?.rollback_s === "number";
    const key = JSON.stringify(changes.map((change) => [change.key, change.value, change.saved, change.origin, isOnTrial(change)]));
    if (this.shown !== key) this.#differences(changes);
    this.shown = key;
    const present = new Map(changes.map((change) => [change.key, change]));
    const stale = [...this.forms.values()].filter(({ setting, isObsolete }) => {
      if (isObsolete) return true;
      const change = present.get(setting.key);
      // A setting that no longer differs has a default that can depend on other settings.
      if (!change) return this.present?.has(setting.key);
      return !isEqual(change.value, setting.value) || isOnTrial(change) !== isOnTrial(setting);
    });
    this.present = present;
    for (const form of stale) form.isObsolete = true;
    const free = stale.filter((form) => !form.isBusy);
    if (!free.length) return;
    const fresh = await attempt(() => this.link.request("get", { keys: free.map((form) => form.setting.key) }), true);
    if (Array.isArray(fresh)) for (const setting of fresh) this.forms.get(setting.key)?.update(setting);
  }

  /** Lists the differences from the saved values first, then those from the defaults. */
  #differences(changes) {
    const groups = [["Not saved", changes.filter((change) => change.unsaved)], ["Different from the default", changes.filter((change) => !change.unsaved)]];
    this.diff.replaceChildren(...groups.filter(([, list]) => list.length).map(([title, list]) =>
      el("div", {}, el("h3", {}, title), el("ul", { class: "plain" }, list.map(difference)))));
    if (!changes.length) this.diff.append(el("p", {}, "Every setting has its default value, and every change is saved."));
  }

  /** Lists the stored tunings. A list with the same names stays, and with it a button that waits for its second press. */
  #list(report) {
    const names = report?.names;
    if (!names || isEqual(names, this.names)) return;
    this.names = names;
    const act = (action, name) => async () => {
      await attempt(() => this.link.request("baseline", { action, name }));
      this.#load();
    };
    this.baselines.replaceChildren(...(names.length ? names.map((name) => el("li", { class: "row" }, el("span", { class: "grow" }, name),
      el("button", { type: "button", onclick: act("restore", name), "aria-label": `Restore ${name}` }, "Restore"),
      twice("Delete", `Delete ${name}?`, act("delete", name), { "aria-description": name })))
      : [el("li", {}, "No tuning is stored.")]));
  }

  #store() {
    const name = el("input", { id: "baseline", pattern: "[A-Za-z0-9._\\-]{1,32}", required: true, placeholder: "good" });
    return el("form", { class: "row", onsubmit: async (event) => {
      event.preventDefault();
      if (await attempt(() => this.link.request("baseline", { action: "store", name: name.value }))) name.value = "";
      this.#list(await attempt(() => this.link.request("baseline"), true));
    } }, el("label", { for: "baseline" }, "Name", name), el("button", { type: "submit" }, "Store the present tuning"));
  }

  async #export() {
    const changes = await attempt(() => this.link.request("diff", { lasting: true }), true);
    if (!Array.isArray(changes)) return;
    download("airframe.toml", changes.filter((change) => !isEqual(change.value, change.default)).map((change) => `${change.key} = ${JSON.stringify(change.value)}\n`).join(""));
  }

  /** Applies the settings of a file temporarily. airframectl reads the file, so its formats are those of `airframectl import`. */
  async #import() {
    const [file] = this.file.files;
    const answer = await attempt(async () => {
      const answer = await fetch(`/import?name=${encodeURIComponent(file.name)}`, { method: "POST", body: await file.arrayBuffer() });
      const result = await answer.json().catch(() => null);
      if (!answer.ok) throw result ?? { message: answer.status === 413 ? "The file is larger than 64 kB." : "The file cannot be read." };
      return result;
    }, true);
    this.file.value = "";
    if (!answer) return;
    let waiting = answer.pairs;
    let reasons = [];
    // Some values are valid only together with values on later lines, so refused settings are sent again until no further one is accepted.
    for (let before = Infinity; waiting.length && waiting.length < before;) {
      before = waiting.length;
      reasons = [];
      const rest = [];
      for (const [key, value] of waiting) {
        try {
          await this.link.request("set", { key, value, rollback: 60 });
        } catch (error) {
          rest.push([key, value]);
          reasons.push(`${key}: ${error.message}`);
        }
      }
      waiting = rest;
    }
    const applied = answer.pairs.length - waiting.length;
    const refused = [...(answer.notes ? answer.notes.split("\n") : []), ...reasons];
    toast(`${applied} ${applied === 1 ? "setting is" : "settings are"} temporarily changed for 60 s.${refused.length ? " Some lines have no effect." : ""}`, refused.length > 0);
    this.imported.replaceChildren(...refused.map((text) => el("span", {}, text)));
    this.#load();
  }
}

const isEqual = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** A setting with its present, saved and default value. */
function difference({ key, value, saved, default: standard, origin, unsaved, rollback_s: seconds }) {
  return el("li", { "data-difference": key }, el("code", {}, `${key} = ${plain(value)}`),
    unsaved ? el("span", { class: "tag care" }, typeof seconds === "number" ? "temporary" : "not saved") : null,
    el("p", { class: "hint" }, `${unsaved ? `Saved value ${plain(saved)}, default` : "Default"} ${plain(standard)}; origin of the present value: ${origin}.`));
}
