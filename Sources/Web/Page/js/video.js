// Video of the camera on a canvas. The page asks for one picture at a time, so a slow network gets fewer pictures instead of late ones.

import { el, setText } from "./dom.js";
import { read } from "./link.js";

/** Pause before a new attempt to connect, and time without a picture after which the page says so, ms. */
const pause = 1000;
const silence = 2500;
/** Time without a message after which the page replaces the connection, ms. */
const patience = 6000;

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
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.#requestPicture(socket);
    };
    socket.onmessage = (event) => {
      this.heard = performance.now();
      if (typeof event.data === "string") this.#explain(event.data);
      else this.#draw(event.data, socket);
    };
    socket.onclose = async () => {
      if (socket !== this.socket) return;
      const reason = wasOpen ? null : await refusal();
      if (socket === this.socket) this.#reconnect(reason ?? "The video is interrupted; this page connects again automatically.");
    };
    // A network that fails does not close the connection.
    this.watch = setInterval(() => this.#check(socket), 500);
  }

  /** Detects that no picture arrives, then a lost connection. */
  #check(socket) {
    const wait = performance.now() - this.heard;
    const reason = this.note.textContent || "No picture has arrived for some seconds.";
    if (wait > (socket.readyState === WebSocket.CONNECTING ? silence : patience)) this.#reconnect(reason);
    else if (wait > silence) this.#explain(reason);
  }

  /** Replaces the connection after a pause, and shows why there is no new picture. */
  #reconnect(reason) {
    this.#disconnect();
    this.#explain(reason);
    this.timer = setTimeout(() => this.#adapt(), pause);
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

/** Reason why the server refuses the connection for the video; null if it is unknown. Browsers do not show a page's script this reason. */
async function refusal() {
  try {
    const answer = await read("/session");
    return (await answer.json()).video_refusal;
  } catch {
    return null;
  }
}
