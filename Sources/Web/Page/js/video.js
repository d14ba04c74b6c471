// Video of the camera on a canvas. The page asks for one picture at a time, so a slow network gets fewer pictures instead of late ones.

import { el, setText } from "./dom.js";

/** Pause before a new attempt to connect, and time without a picture after which the page says so, ms. */
const pause = 1000;
const silence = 2500;

export class Video {
  constructor() {
    this.canvas = el("canvas", { class: "video", width: 4, height: 3, "aria-hidden": "true" });
    this.note = el("p", { class: "note", role: "status" });
    this.isWanted = false;
    this.onVisibility = () => this.#adapt();
    document.addEventListener("visibilitychange", this.onVisibility);
  }

  /** Shows the video, or ends it; a hidden page shows none. */
  show(isWanted) {
    if (this.isWanted === isWanted) return;
    this.isWanted = isWanted;
    this.#adapt();
  }

  close() {
    document.removeEventListener("visibilitychange", this.onVisibility);
    this.show(false);
  }

  #adapt() {
    if (this.isWanted && !document.hidden) this.#connect();
    else this.#disconnect();
  }

  #connect() {
    if (this.socket) return;
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/pictures`, "airframe");
    this.socket = socket;
    this.heard = performance.now();
    socket.onopen = () => this.#requestPicture(socket);
    socket.onmessage = (event) => typeof event.data === "string" ? this.#explain(event.data) : this.#draw(event.data, socket);
    socket.onclose = () => {
      if (socket !== this.socket) return;
      this.#disconnect();
      this.#explain("The video is interrupted; this page connects again automatically.");
      this.timer = setTimeout(() => this.#adapt(), pause);
    };
    this.watch = setInterval(() => performance.now() - this.heard > silence && !this.note.textContent && this.#explain("No picture has arrived for some seconds."), 500);
  }

  #disconnect() {
    clearTimeout(this.timer);
    clearInterval(this.watch);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  async #draw(data, socket) {
    try {
      const picture = await createImageBitmap(data);
      if (socket !== this.socket) return picture.close();
      const { canvas } = this;
      if (canvas.width !== picture.width || canvas.height !== picture.height) [canvas.width, canvas.height] = [picture.width, picture.height];
      canvas.getContext("2d").drawImage(picture, 0, 0);
      picture.close();
      this.heard = performance.now();
      canvas.classList.remove("old");
      canvas.dataset.pictures = Number(canvas.dataset.pictures ?? 0) + 1;
      setText(this.note, "");
    } catch {
      this.#explain("A picture cannot be decoded.");
    }
    this.#requestPicture(socket);
  }

  /** Requests the next picture, unless the socket is obsolete or closing. */
  #requestPicture(socket) {
    if (socket === this.socket && socket.readyState === WebSocket.OPEN) socket.send("next");
  }

  /** Shows why there is no new picture; the last one stays, greyed. */
  #explain(text) {
    this.canvas.classList.add("old");
    setText(this.note, text);
  }
}
