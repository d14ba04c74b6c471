// Picture of the camera, photos and recordings, and the people in the picture: follow one, the next, or the one at a touched place.

import { el, fixed, setText } from "./dom.js";
import { Video } from "./video.js";

/** Age above which a companion's newest report no longer describes the present, s; airframed has the same limit. */
const silence = 5;

export class People {
  /** `ask` is a function that sends a request with the given method and parameters. */
  constructor(ask) {
    const follow = (params) => ask("follow", params);
    // The picture is apart from its controls, so that a phone can show picture and pad at once.
    this.video = new Video();
    this.state = el("p", { role: "status" });
    this.box = el("span", { class: "person" });
    this.frame = el("div", { class: "frame", role: "img" }, this.video.canvas, this.box, this.video.note);
    // A click and not the first contact: a finger that scrolls the page must not choose a person.
    this.frame.addEventListener("click", (event) => {
      if (!this.canFollow) return;
      const area = this.video.canvas.getBoundingClientRect();
      const share = (value, length) => Number(Math.min(1, Math.max(0, value / length)).toFixed(3));
      follow({ action: "point", x: share(event.clientX - area.left, area.width), y: share(event.clientY - area.top, area.height) });
    });
    const button = (text, action) => el("button", { type: "button", onclick: () => follow({ action }) }, text);
    this.following = el("div", {}, el("h2", {}, "Follow a person"), this.state,
      el("p", { class: "hint" }, "Touch a person in the picture to follow this person; the pad stops the camera from following."),
      el("div", { class: "row" }, button("Follow", "on"), button("Next person", "next"), button("Follow nobody", "off")));
    this.film = el("button", { type: "button", onclick: () => ask("camera", { action: this.isFilming ? "stop" : "record" }) }, "Record video");
    this.filmState = el("p", { role: "status" });
    this.capture = el("div", {}, el("h2", {}, "Camera"), el("div", { class: "row" },
      el("button", { type: "button", onclick: () => ask("camera", { action: "photo" }) }, "Take a photo"), this.film), this.filmState);
    this.address = el("div", { hidden: true });
    this.node = el("section", { class: "card first", hidden: true, "aria-label": "Video" }, this.frame);
    this.controls = el("section", { class: "card", hidden: true, "aria-label": "Camera and people" }, this.capture, this.following, this.address);
  }

  /** Shows the newest reports of the companions, without old reports; pictures are for paired browsers only. */
  show(companions, isPaired) {
    const reports = companions.filter((companion) => companion.age_s <= silence).map((companion) => companion.report);
    const stream = reports.map((report) => report.stream).find(Boolean);
    const following = reports.map((report) => report.following).find(Boolean);
    const capture = reports.map((report) => report.capture).find(Boolean);
    this.node.hidden = !stream && !following;
    this.controls.hidden = this.node.hidden && !capture;
    this.#film(capture);
    this.canFollow = Boolean(following);
    this.following.hidden = !following;
    this.frame.classList.toggle("target", this.canFollow);
    this.video.show(Boolean(stream) && isPaired);
    this.#stream(stream, isPaired);
    this.#person(following);
  }

  #stream(stream, isPaired) {
    document.documentElement.classList.toggle("has-video", Boolean(stream) && isPaired);
    const { style } = this.frame;
    style.aspectRatio = stream ? `${stream.width} / ${stream.height}` : "4 / 3";
    if (stream && !isPaired) setText(this.video.note, "Pair this browser to see the video.");
    this.address.hidden = !stream;
    if (!stream || this.address.dataset.uri === stream.uri) return;
    this.address.dataset.uri = stream.uri;
    this.address.replaceChildren(el("details", {}, el("summary", {}, "The stream for players"),
      el("p", {}, `${stream.width} × ${stream.height}, ${fixed(stream.rate_hz, 0)} Hz, H.264 over RTSP, with every picture:`),
      el("pre", { tabindex: 0 }, stream.uri), el("a", { class: "button", href: stream.uri }, "Open in a player")));
  }

  #film(capture) {
    this.capture.hidden = !capture;
    if (!capture) return;
    this.isFilming = capture.recording;
    setText(this.film, capture.recording ? "End the video" : "Record video");
    const { free_mb: free, photos, problem } = capture;
    setText(this.filmState, [capture.recording ? "Video is being recorded." : null, `Photos: ${photos}.`,
      typeof free === "number" ? `${fixed(free / 1000, 1)} GB are free.` : null, problem ? `Problem: ${problem}` : null].filter(Boolean).join(" "));
  }

  #person(following) {
    const box = following?.box;
    this.box.hidden = !box;
    this.frame.setAttribute("aria-label", box
      ? `Picture of the camera; the followed person is at ${fixed((box[0] + box[2]) * 50, 0)} % from the left, ${fixed((box[1] + box[3]) * 50, 0)} % from the top`
      : "Picture of the camera, without a followed person");
    if (!following) return;
    const { active, people } = following;
    const count = people === 1 ? "1 person is" : `${people} people are`;
    setText(this.state, `${count} in the picture. ${active ? (box ? "The camera follows a person." : "The camera waits until a person appears.") : "The camera does not follow a person."}`);
    if (!box) return;
    const [left, top, right, bottom] = box.map((part) => `${part * 100}%`);
    Object.assign(this.box.style, { left, top, width: `calc(${right} - ${left})`, height: `calc(${bottom} - ${top})` });
  }

  close() {
    this.video.close();
    document.documentElement.classList.remove("has-video");
  }
}
