// People in the picture of a companion program: follow a person, the next person, or the person at a touched position.

import { el, fixed, setText } from "./dom.js";

export class People {
  /** `follow` is a function that sends the request `follow` with the given parameters. */
  constructor(follow) {
    this.state = el("p", { role: "status" });
    this.box = el("span", { class: "person" });
    this.frame = el("div", { class: "frame", role: "img" }, this.box);
    this.frame.addEventListener("pointerdown", (event) => {
      const area = this.frame.getBoundingClientRect();
      const share = (value, length) => Number(Math.min(1, Math.max(0, value / length)).toFixed(3));
      follow({ action: "point", x: share(event.clientX - area.left, area.width), y: share(event.clientY - area.top, area.height) });
    });
    const button = (text, action) => el("button", { type: "button", onclick: () => follow({ action }) }, text);
    this.node = el("section", { class: "card", hidden: true }, el("h2", {}, "Follow a person"), this.state, this.frame,
      el("p", { class: "hint" }, "The frame shows the area of the camera's picture. Touch a person in the frame to follow this person; the pad stops the camera from following."),
      el("div", { class: "row" }, button("Follow", "on"), button("Next person", "next"), button("Follow nobody", "off")));
  }

  /** Shows the newest reports of the companions. */
  show(companions) {
    const report = companions.map((companion) => companion.report).find((one) => one.following);
    this.node.hidden = !report;
    if (!report) return;
    const { active, people, box } = report.following;
    const count = people === 1 ? "1 person is" : `${people} people are`;
    setText(this.state, `${count} in the picture. ${active ? (box ? "The camera follows a person." : "The camera waits until a person appears.") : "Nobody is followed."}`);
    const { style } = this.frame;
    style.aspectRatio = report.stream ? `${report.stream.width} / ${report.stream.height}` : "4 / 3";
    this.box.hidden = !box;
    this.frame.setAttribute("aria-label", box ? `The followed person is at ${fixed((box[0] + box[2]) * 50, 0)} % from the left, ${fixed((box[1] + box[3]) * 50, 0)} % from the top` : "Picture without a followed person");
    if (!box) return;
    const [left, top, right, bottom] = box.map((part) => `${part * 100}%`);
    Object.assign(this.box.style, { left, top, width: `calc(${right} - ${left})`, height: `calc(${bottom} - ${top})` });
  }
}
