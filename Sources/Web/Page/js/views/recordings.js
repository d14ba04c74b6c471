// Recordings: the flight recorder, its files, and their replay.

import { attempt, el, fixed, setText } from "../dom.js";
import { read } from "../link.js";
import { plot } from "../plot.js";
import { axes } from "../live.js";
import { Replay } from "../replay.js";

/** Points of a replay, and of each plot. */
const points = 6000;
const plotted = 600;
const groups = [["attitude", "°"], ["error", "°"], ["torque", "N·m"]];

export class RecordingsView {
  title = "Recordings";

  constructor(page) {
    Object.assign(this, page);
    this.state = el("p", { role: "status" });
    this.toggle = el("button", { type: "button", onclick: () => this.#ask({ action: this.isRecording ? "stop" : "start" }) }, "Record");
    this.files = el("ul", { class: "plain" });
    this.output = el("div", { "aria-live": "polite" });
    this.nodes = [el("h1", {}, "Recordings"),
      el("section", { class: "card", "aria-label": "Recorder" }, this.state, el("div", { class: "row" },
        el("button", { type: "button", class: "main", onclick: () => this.#ask({ action: "last", seconds: 60 }) }, "Save the last 60 s"), this.toggle)),
      el("section", { class: "card" }, el("h2", {}, "Files"), this.files),
      el("section", { class: "card", "aria-label": "Replay" }, this.output)];
    this.timer = setInterval(() => this.#read(), 1000);
    this.link.addEventListener("open", this.onOpen = () => {
      // The rights can differ from those of the previous connection.
      this.count = null;
      this.#read();
    });
  }

  show() {
    setText(this.output, "Choose a recording to replay it.");
    this.#read();
  }

  close() {
    clearInterval(this.timer);
    this.wanted = null;
    this.replay?.end();
    this.link.removeEventListener("open", this.onOpen);
  }

  async #ask(params) {
    await attempt(() => this.link.request("record", params));
    this.#read();
  }

  async #read() {
    if (!this.link.isOpen || this.isReading) return;
    this.isReading = true;
    try {
      const status = await this.link.request("record");
      this.isRecording = status.recording;
      setText(this.toggle, status.recording ? "End the recording" : "Record");
      setText(this.state, !status.enabled ? "The recorder is off." : `${fixed(status.held_s, 0)} of ${fixed(status.ring_s, 0)} s are in memory. ${status.recording ? `Recording: ${mb(status.open_bytes)}.` : "Not recording."} ${status.files} ${status.files === 1 ? "file" : "files"}, ${mb(status.file_bytes)}.${status.problem ? ` Problem: ${status.problem}` : ""}`);
      if (this.finished !== status.finished || this.count !== status.files) {
        [this.finished, this.count] = [status.finished, status.files];
        await this.#list(status.directory);
      }
    } catch {
      // The link reports a lost connection. The list that has not arrived is read again.
      this.count = null;
    } finally {
      this.isReading = false;
    }
  }

  async #list(directory) {
    const answer = await read("/recordings");
    if (!answer.ok) return setText(this.files, answer.status === 401 ? "Pair this browser to see the files." : `The files are in ${directory}; this program cannot read them.`);
    const list = await answer.json();
    const isPaired = this.link.canWrite;
    this.files.replaceChildren(...(list.length ? list.map(({ name, bytes, time }) => el("li", { class: "row" },
      el("span", { class: "grow" }, el("code", {}, name), el("span", { class: "hint" }, ` ${mb(bytes)}, ${new Date(time * 1000).toLocaleString()}`)),
      // The buttons of a file stay together, also next to a long name.
      isPaired ? el("div", { class: "row" }, el("button", { type: "button", "aria-label": `Replay ${name}`, onclick: () => this.#replay(name) }, "Replay"),
        el("a", { class: "button", href: `/recordings/${encodeURIComponent(name)}`, download: name, "aria-label": `Download ${name}` }, "Download"),
        el("a", { class: "button", href: `/recordings/${encodeURIComponent(name)}?table=tick`, download: `${name}.csv`, "aria-label": `Download ${name} as a table` }, "CSV")) : null))
      : [el("li", {}, "No recording is on the disk.")]));
    if (list.length && !isPaired) this.files.append(el("li", {}, "Pair this browser to replay and download the recordings."));
  }

  async #replay(name) {
    // A later choice, or the end of the view, replaces this token, so that a late answer is ignored.
    const own = (this.wanted = {});
    this.replay?.end();
    this.replay = null;
    setText(this.output, "The recording is being read.");
    const answer = await fetch(`/recordings/${encodeURIComponent(name)}?plot=${points}`, { cache: "no-store" }).catch(() => null);
    const series = await answer?.json().catch(() => null);
    if (own !== this.wanted) return;
    if (!answer?.ok || !series) return setText(this.output, series?.message ?? "The recording cannot be read. Try again.");
    if (!series.t.length) return setText(this.output, "The recording contains no ticks.");
    const replay = new Replay(series);
    this.replay = replay;
    const stride = Math.ceil(series.t.length / plotted);
    const curve = (key) => series.t.flatMap((t, index) => (index % stride ? [] : [[t, series.values[key][index]]]));
    const seek = (event) => { replay.pause(); replay.seek(event.t); replay.slider.focus(); };
    this.output.replaceChildren(el("h2", {}, name), replay.node, el("h3", {}, "Events"),
      el("ul", { class: "plain" }, series.events.length ? series.events.map((event) => el("li", { class: "row" },
        el("button", { type: "button", onclick: () => seek(event) }, `${fixed(event.t, 3)} s`), el("span", { class: event.fault ? "bad" : "" }, words(event))))
        : el("li", {}, "No events.")),
      series.events_left_out ? el("p", { class: "hint" }, `${series.events_left_out} more events are not shown. To list them, run airframectl record info FILE.`) : "",
      el("h3", {}, "The whole recording"), ...groups.map(([group, unit]) => plot(`${group}, ${unit}`, {
        x: { label: "s" }, y: { label: unit }, curves: axes.map((axis) => ({ name: axis, className: axis, points: curve(`${group}.${axis}`) })),
      })),
      el("p", { class: "hint" }, "To compute this recording again with other settings, run airframectl replay FILE."));
    replay.show();
  }
}

/** Text of an event; a repeated request is one event. */
const words = ({ name, what, count, end }) => `${name} ${what}`.trim() + (count > 1 ? `, ${count} requests until ${fixed(end, 3)} s` : "");
const mb = (bytes) => `${fixed(bytes / 1e6, 1)} MB`;
