// Joystick pad, which requests a rate while it is held. The rate ends when the finger is lifted, the tab is hidden, the page loses the
// focus, or the connection ends.

import { el, sentence, setText } from "./dom.js";

/** Interval of repeated requests, ms: short enough for a dead-man time of 0.3 s, even if two requests are lost. */
const period = 50;
/** Shortest interval of requests while the finger moves, ms. */
const quickest = 12;
/** Longest wait for an answer while the pad is held, ms; airframed stops the camera after a similar time. */
const patience = 1200;
/** Dead zone, as a fraction of the pad's radius. */
const deadZone = 0.08;
/** Methods of the pad's requests. */
const methods = new Set(["rate", "track"]);
const keys = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Pad {
  /** `live` contains the newest status, whose mode determines the method of the requests. */
  constructor(link, live) {
    this.link = link;
    this.live = live;
    this.speed = 30;
    this.wish = [0, 0];
    this.pressed = new Set();
    this.isHeld = false;
    this.ended = new AbortController();
    this.knob = el("span", { class: "knob" });
    this.state = el("p", { class: "hint", id: "pad-state", role: "status" }, "Hold the pad to turn the camera.");
    this.node = el("div", {
      class: "pad", tabindex: 0, role: "application", "aria-roledescription": "joystick pad", "aria-label": "Turn the camera", "aria-describedby": "pad-help pad-state",
    }, ...["up", "down", "left", "right"].map((name) => el("span", { class: `mark ${name}` }, name)), this.knob);
    this.help = el("p", { class: "hint", id: "pad-help" },
      "Drag from the middle; the distance is the rate. With a keyboard, hold an arrow key. The camera stops when you release the pad or the key.");
    this.#listen();
  }

  #listen() {
    const { node } = this;
    node.addEventListener("pointerdown", (event) => {
      if (this.isHeld || event.button !== 0) return;
      event.preventDefault();
      node.setPointerCapture(event.pointerId);
      node.focus({ preventScroll: true });
      this.pointer = event.pointerId;
      // A notice that appears above the pad moves the pad under the finger. The directions stay the same until the release.
      this.box = node.getBoundingClientRect();
      this.#hold(this.#position(event));
    });
    // Browsers delay pointermove until the next frame. Some browsers also have pointerrawupdate, which is not delayed.
    for (const name of ["pointerrawupdate", "pointermove"]) {
      node.addEventListener(name, (event) => {
        if (this.isHeld && event.pointerId === this.pointer) this.#move(this.#position(event));
      });
    }
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
      node.addEventListener(name, (event) => event.pointerId === this.pointer && this.release("The camera stops."));
    }
    node.addEventListener("contextmenu", (event) => event.preventDefault());
    node.addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      if (event.repeat) return;
      this.pressed.add(event.key);
      this.#hold(this.#keyed());
    });
    node.addEventListener("keyup", (event) => {
      if (!this.pressed.delete(event.key)) return;
      if (this.pressed.size) this.#move(this.#keyed());
      else this.release("The camera stops.");
    });
    node.addEventListener("blur", () => this.release("The camera stops: the pad has lost the focus."));
    // The following objects outlive the pad, so the pad removes its listeners at its end.
    const { signal } = this.ended;
    window.addEventListener("blur", () => this.release("The camera stops: the window has lost the focus."), { signal });
    window.addEventListener("pagehide", () => this.release(""), { signal });
    document.addEventListener("visibilitychange", () => document.hidden && this.release("The camera stops: the tab was hidden."), { signal });
    this.link.addEventListener("refused", (event) => methods.has(event.detail.method) && this.release(sentence(event.detail)), { signal });
    this.link.addEventListener("lost", () => this.release("The camera stops: the connection was lost."), { signal });
  }

  #position(event) {
    const { box } = this;
    const radius = box.width / 2;
    const [x, y] = [(event.clientX - box.left - radius) / radius, (box.top + radius - event.clientY) / radius];
    const length = Math.hypot(x, y);
    return length > 1 ? [x / length, y / length] : [x, y];
  }

  #keyed() {
    const sum = [0, 0];
    for (const key of this.pressed) keys[key].forEach((value, index) => (sum[index] += value));
    return sum.map((value) => value * 0.6);
  }

  #hold(wish) {
    if (!this.link.canWrite) {
      setText(this.state, "This page can only read values. To turn the camera, pair this page.");
      return;
    }
    if (!this.isHeld) {
      this.isHeld = true;
      this.node.classList.add("turning");
      this.timer = setInterval(() => this.#send(), period);
    }
    this.#move(wish, true);
  }

  #move(wish, isFirst = false) {
    this.wish = wish;
    this.knob.style.transform = `translate(${wish[0] * 105}%, ${-wish[1] * 105}%)`;
    if (isFirst || performance.now() - this.sentAt >= quickest) this.#send();
  }

  /** Rates that the pad requests now, degrees per second; the resolution is finest near the middle. */
  get rates() {
    const length = Math.hypot(...this.wish);
    if (length < deadZone) return { yaw: 0, pitch: 0 };
    const rate = this.speed * ((length - deadZone) / (1 - deadZone)) ** 1.6 / length;
    return { yaw: round(this.wish[0] * rate), pitch: round(this.wish[1] * rate) };
  }

  #send() {
    if (!this.isHeld) return;
    if (this.link.delay > patience) {
      this.release("The camera stops: the gimbal does not answer.");
      return;
    }
    this.sentAt = performance.now();
    const rates = this.rates;
    if (this.#ask(rates)) {
      setText(this.state, `Turning: yaw ${rates.yaw}°/s, pitch ${rates.pitch}°/s.`);
    }
  }

  /** Requests rates. In mode tracking, airframed refuses `rate`; `track` takes control from a program that follows a person. */
  #ask({ yaw, pitch }, isUrgent = false) {
    return this.live.status?.mode === "tracking"
      ? this.link.hurry("track", { pan: yaw, tilt: -pitch }, isUrgent)
      : this.link.hurry("rate", { yaw, pitch }, isUrgent);
  }

  /** Stops the turn. */
  release(reason) {
    // A mouse keeps its pointerId, so its next motion without a button would otherwise count as a drag.
    this.pointer = null;
    this.pressed.clear();
    if (!this.isHeld) return;
    this.isHeld = false;
    clearInterval(this.timer);
    this.node.classList.remove("turning");
    this.wish = [0, 0];
    this.knob.style.transform = "";
    this.#ask({ yaw: 0, pitch: 0 }, true);
    setText(this.state, reason);
  }

  /** Stops the turn, and ends the pad. */
  close() {
    this.release("");
    this.ended.abort();
  }
}

const round = (rate) => Math.round(rate * 10) / 10;
