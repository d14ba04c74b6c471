// Shots: series of photos. airframe-web runs the shot, which therefore continues when the page is closed.

import { attempt, el, fixed, setText, toast, twice } from "../dom.js";
import { read } from "../link.js";

const names = { panorama: "Panorama", timelapse: "Time-lapse", orbit: "Orbit", file: "File" };
const shutters = { none: "no shutter, only the moves", eyes: "camera of airframe-eyes", mavlink: "MAVLink camera" };

/** Sends a request to airframe-web; the promise is rejected with the server's message. */
async function send(path, body = "") {
  const answer = await fetch(path, { method: "POST", body });
  const result = await answer.json().catch(() => null);
  if (!answer.ok) throw result ?? { message: "airframe-web does not answer." };
  return result;
}

export class ShotsView {
  title = "Shots";
  /** The fields and the plan stay when the user opens another view and returns. */
  isKept = true;

  constructor(page) {
    Object.assign(this, page);
    this.state = el("p", { class: "big", role: "status" });
    this.bar = el("progress", { max: 1, value: 0, "aria-label": "Completed photos", hidden: true });
    this.note = el("p", { class: "hint", role: "status" });
    this.problem = el("p", { class: "bad alert", role: "alert" });
    const button = (text, path, props) => el("button", { type: "button", ...props, onclick: () => this.#act(path) }, text);
    this.pause = button("Pause", "/shot/pause");
    this.resume = button("Resume", "/shot/resume", { class: "main" });
    this.cancel = twice("Cancel the shot", "Cancel the shot?", () => this.#act("/shot/cancel"));
    this.kind = el("select", { id: "shot-kind", onchange: () => this.#form() }, Object.entries(names).map(([value, name]) => el("option", { value }, name)));
    this.fields = el("div", { class: "fields wide" });
    this.camera = el("div", { class: "fields wide" });
    this.plan = el("div", { "aria-live": "polite" });
    this.planned = el("section", { class: "card", hidden: true }, el("h2", {}, "Plan"), this.plan);
    this.start = el("button", { type: "submit", class: "main" }, "Start");
    this.hint = el("p", { class: "hint" });
    // The form needs the server's list of keys.
    this.form = el("form", { hidden: true, onsubmit: (event) => this.#start(event) }, el("label", { for: this.kind.id }, "Kind", this.kind), this.fields, this.camera,
      el("p", { class: "row" }, el("button", { type: "button", onclick: () => this.#plan() }, "Show the plan"), this.start));
    this.nodes = [el("h1", {}, "Shots"),
      el("section", { class: "card", "aria-label": "State of the shot" }, this.state, this.bar, this.note, this.problem,
        el("div", { class: "row" }, this.pause, this.resume, this.cancel)),
      this.planned, el("section", { class: "card" }, el("h2", {}, "New shot"), this.form, this.hint)];
    this.onOpen = () => this.#refresh();
  }

  show() {
    this.timer = setInterval(() => this.#read(), 1000);
    this.link.addEventListener("open", this.onOpen);
    this.#refresh();
  }

  #refresh() {
    this.#read();
    this.#load();
  }

  close() {
    clearInterval(this.timer);
    this.link.removeEventListener("open", this.onOpen);
  }

  async #load() {
    if (this.keys || this.isLoading) return null;
    this.isLoading = true;
    const answer = await read("/shot/keys").catch(() => null);
    const keys = answer?.ok ? await answer.json().catch(() => null) : null;
    this.isLoading = false;
    if (!keys) return answer && setText(this.hint, "Pair this browser to start a shot.");
    this.keys = keys;
    this.shutter = el("select", { id: "shot-shutter", onchange: () => (this.address.parentElement.hidden = this.shutter.value !== "mavlink") },
      this.keys.shutters.map((value) => el("option", { value }, shutters[value] ?? value)));
    this.address = el("input", { id: "shot-address", type: "text", placeholder: "192.168.1.30:14550" });
    this.rate = number(this.keys.rate);
    this.camera.replaceChildren(el("label", { for: this.shutter.id }, "Shutter", this.shutter),
      el("label", { for: this.address.id, hidden: true }, "Address of the camera, HOST:PORT", this.address), this.rate.node);
    this.#form();
    this.form.hidden = false;
    return null;
  }

  /** Shows the fields of the chosen kind, from the server's list of keys. */
  #form() {
    const kind = this.kind.value;
    this.inputs = [];
    this.camera.hidden = kind === "file";
    // A wrong value of a hidden field would prevent the start without a message.
    this.rate.input.disabled = kind === "file";
    if (kind === "file") {
      this.file = el("input", { id: "shot-file", type: "file", accept: ".toml,text/plain" });
      return this.fields.replaceChildren(el("label", { for: this.file.id }, "File with the description of a shot (TOML)", this.file));
    }
    this.inputs = this.keys.kinds[kind].map((key) => number(key));
    // The path of a time-lapse: the poses at its beginning and at its end.
    const frame = (name, prefix, text) => number({ ...this.keys.frame.find((key) => key.name === name), summary: text }, prefix);
    this.ends = kind === "timelapse" ? [[["pitch", frame("pitch", "begin", "pitch at the beginning, up positive")]],
      [["yaw", frame("yaw", "end", "yaw at the end, relative to the beginning, right positive")], ["pitch", frame("pitch", "end", "pitch at the end, up positive")]]] : [];
    return this.fields.replaceChildren(...this.inputs.map(({ node }) => node), ...this.ends.flat().map(([, { node }]) => node));
  }

  /** Description of the shot as TOML text; empty after a message about the missing part. */
  async #text() {
    if (!this.form.reportValidity()) return "";
    if (this.kind.value === "file") {
      const [file] = this.file.files;
      if (!file) toast("Choose a file first.", true);
      return file ? file.text() : "";
    }
    const lines = ({ key, input }) => (input.value === "" ? [] : [`${key} = ${Number(input.value)}`]);
    return [...lines(this.rate), ...this.ends.flatMap((pose) => ["[[frame]]", ...pose.flatMap(([, field]) => lines(field))]),
      `[${this.kind.value}]`, ...this.inputs.flatMap(lines),
      "[shutter]", `kind = "${this.shutter.value}"`, ...(this.shutter.value === "mavlink" ? [`address = ${JSON.stringify(this.address.value)}`] : []), ""].join("\n");
  }

  async #plan() {
    const text = await this.#text();
    if (!text) return;
    const plan = await attempt(() => send("/shot/plan", text), true);
    if (!plan) return;
    // The number makes the browser load the new picture.
    const picture = `/shot/plan.svg?n=${Date.now()}`;
    const show = () => this.planned.firstChild.scrollIntoView();
    this.planned.hidden = false;
    this.plan.replaceChildren(el("pre", {}, plan.text.trim()),
      plan.picture ? el("a", { href: picture, target: "_blank", rel: "noopener" },
        el("img", { class: "plan", src: picture, onload: show, alt: `Places of the photos, and angles of the camera over time. ${plan.text.split("\n")[0]}` }))
        : el("p", { class: "hint" }, "The plan has too many photos for a picture."));
    show();
  }

  async #start(event) {
    event.preventDefault();
    const text = await this.#text();
    if (text) await this.#act(`/shot/start${this.isPaused ? "?new=1" : ""}`, text);
  }

  async #act(path, body) {
    const report = await attempt(() => send(path, body), true);
    if (report) this.#update(report);
  }

  async #read() {
    if (document.hidden || this.isReading || !this.link.isOpen) return;
    this.isReading = true;
    const answer = await read("/shot").catch(() => null);
    const report = answer?.ok ? await answer.json().catch(() => null) : null;
    this.isReading = false;
    if (!report) return;
    this.#update(report);
    this.#load();
  }

  #update({ state, title, photos, done, seconds_left: left, note, problem, owner }) {
    // Key frames can move the camera without photos.
    const progress = photos ? `${done} of ${photos} photos, ` : "";
    const sentence = {
      none: "No shot has been started.", complete: photos ? `${title}: all ${photos} photos are done.` : `${title}: complete.`,
      waiting: `${title}: the shot waits for airframed.`, paused: `${title}: paused${photos ? " after" : ","} ${progress}${duration(left)} left.`,
      active: photos ? `${title}: ${progress}${duration(left)} left.` : "The shot is active.",
    }[state];
    const canWrite = this.link.canWrite;
    this.isPaused = state === "paused";
    const isActive = state === "active" || state === "waiting";
    setText(this.state, sentence);
    setText(this.note, [owner && isActive ? `Started by ${owner}.` : "", note].filter(Boolean).join(" "));
    setText(this.problem, problem);
    this.bar.hidden = !photos;
    this.bar.value = photos ? done / photos : 0;
    this.pause.hidden = !isActive;
    this.resume.hidden = !this.isPaused;
    this.cancel.hidden = !isActive && !this.isPaused;
    this.start.disabled = isActive || !canWrite;
    setText(this.start, this.isPaused ? "Discard the paused shot, and start" : "Start");
    for (const node of [this.pause, this.resume, this.cancel]) node.disabled = !canWrite;
    setText(this.hint, canWrite ? "The motors must be on, in mode locked. Yaw is relative to the present yaw of the camera." : "Pair this browser to start a shot.");
  }
}

/** Duration in words. */
const duration = (seconds) => (seconds < 90 ? `${fixed(seconds, 0)} s` : seconds < 5400 ? `${fixed(seconds / 60, 0)} min` : `${fixed(seconds / 3600, 1)} h`);

/** Field of a number, from the declaration of its key. */
function number({ name, summary, unit, low, high, default: usual, whole }, prefix = "shot") {
  const id = `${prefix}-${name}`;
  const input = el("input", { id, type: "number", min: low, max: high, step: whole ? 1 : "any", value: usual ?? "", required: usual === null, "aria-describedby": `${id}-help` });
  const text = summary[0].toUpperCase() + summary.slice(1);
  return { key: name, input, node: el("div", {}, el("label", { for: id }, `${text}${unit ? `, ${unit}` : ""}`, input),
    el("p", { class: "hint", id: `${id}-help` }, `${plainNumber(low)} to ${plainNumber(high)}${usual === null ? "" : `, default ${plainNumber(usual)}`}`)) };
}

const plainNumber = (value) => String(value).replace("-", "−");
