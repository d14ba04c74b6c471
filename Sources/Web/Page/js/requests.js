// All requests of the diagnostics protocol, as forms made from the daemon's own list. The page therefore offers every request, also those
// that have no control of their own.

import { el, sentence, setText } from "./dom.js";

/** Requests that belong to the page's connection, and not to the user. */
const own = ["client", "companion", "subscribe", "unsubscribe"];

export class Requests {
  constructor(link) {
    this.link = link;
    this.choice = el("select", { id: "method", onchange: () => this.#show() });
    this.summary = el("p", { class: "hint", id: "method-summary" });
    this.fields = el("div", { class: "fields wide" });
    this.answer = el("pre", { tabindex: 0, role: "status", "aria-label": "Answer", hidden: true });
    this.form = el("form", { hidden: true, onsubmit: (event) => {
      event.preventDefault();
      this.#send();
    } }, el("label", { for: "method" }, "Request", this.choice), this.summary, this.fields,
      el("p", {}, el("button", { type: "submit" }, "Send")), this.answer);
    this.note = el("p", { class: "hint", role: "status" });
    this.node = el("section", { class: "card", id: "requests" }, el("h2", {}, "All requests"),
      el("details", { ontoggle: (event) => event.target.open && this.#load() },
        el("summary", {}, "Send any request to airframed"), this.note, this.form));
  }

  async #load() {
    if (this.methods) return;
    try {
      this.methods = (await this.link.request("methods")).filter((method) => !own.includes(method.name)).sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      return setText(this.note, sentence(error));
    }
    setText(this.note, "");
    this.choice.append(...this.methods.map(({ name }) => el("option", { value: name }, name)));
    this.form.hidden = false;
    this.#show();
  }

  #show() {
    this.method = this.methods.find(({ name }) => name === this.choice.value);
    setText(this.summary, this.method.summary);
    this.answer.hidden = true;
    this.inputs = this.method.parameters.map((parameter) => [parameter, control(parameter)]);
    this.fields.replaceChildren(...this.inputs.map(([parameter, input]) => {
      const { name, unit, minimum, maximum } = parameter;
      const range = typeof minimum === "number" && typeof maximum === "number" && Math.abs(maximum) < 1e8 ? `, ${minimum} to ${maximum}` : "";
      return el("div", {}, el("label", { for: input.id }, `${name}${unit ? `, ${unit}` : ""}${range}`, input),
        el("p", { class: "hint", id: `${input.id}-help` }, parameter.summary));
    }));
  }

  async #send() {
    const params = {};
    for (const [{ name, kind }, input] of this.inputs) if (input.value !== "") params[name] = value(kind, input.value);
    let text;
    try {
      text = JSON.stringify(await this.link.request(this.method.name, params), null, 1);
    } catch (error) {
      text = sentence(error);
    }
    this.answer.hidden = false;
    setText(this.answer, text);
  }
}

/** Control of a parameter; an empty control omits the parameter from the request. */
function control({ name, kind, required, minimum, maximum, words }) {
  const shared = { id: `parameter-${name}`, required, "aria-describedby": `parameter-${name}-help` };
  if (kind === "word" || kind === "bool") {
    const choices = kind === "bool" ? ["true", "false"] : words;
    return el("select", shared, [...(required ? [] : [""]), ...choices].map((word) => el("option", { value: word }, word || "default")));
  }
  const isNumber = kind === "number" || kind === "integer";
  return el("input", { ...shared, type: isNumber ? "number" : "text", ...(isNumber ? { min: minimum, max: maximum, step: kind === "integer" ? 1 : "any" } : {}) });
}

/** Value of a control for a request. A list consists of words that are separated by spaces. */
function value(kind, text) {
  switch (kind) {
    case "number":
    case "integer": return Number(text);
    case "bool": return text === "true";
    case "texts":
      if (!text.trim().startsWith("[")) return text.split(/\s+/).filter(Boolean);
    // Falls through: a list in JSON.
    case "any":
      try {
        return JSON.parse(text);
      } catch {
        return text;
      }
    default: return text;
  }
}
