// Pairing: a code becomes a token, which the browser keeps as a cookie that scripts cannot read.

import { el, setText, toast } from "./dom.js";
import { read } from "./link.js";

export class Session extends EventTarget {
  constructor(link) {
    super();
    this.link = link;
    /** Reason of the lost connection, as the server gave it; empty if it is unknown. */
    this.reason = "";
    /** True if the browser has no write access. A lost connection does not change this state. */
    this.needsPairing = false;
    this.pairings = 0;
    this.dialog = document.getElementById("pairing");
    this.dialog.addEventListener("keydown", (event) => event.key === "Escape" && this.#close());
    link.addEventListener("open", () => {
      this.needsPairing = !link.canWrite;
      this.#note("");
    });
    link.addEventListener("lost", ({ detail }) => {
      if (detail.wasOpen || detail.reason) this.#note(detail.reason);
      else this.#explain();
    });
  }

  /** Uses the pairing code in the page's address, which `make run-web` prints. */
  begin() {
    const code = /^#pair=([0-9-]+)$/.exec(location.hash)?.[1];
    if (!code) return;
    history.replaceState(null, "", location.pathname);
    this.pair(code).catch((error) => toast(error.message, true));
  }

  /** Stores the reason of the lost connection. */
  #note(reason) {
    this.reason = this.link.isOpen ? "" : reason.trim();
    this.dispatchEvent(new Event("change"));
  }

  /** Requests the reason why the WebSocket cannot be opened. */
  async #explain() {
    if (this.isAsking || this.dialog.open) return;
    this.isAsking = true;
    const { pairings } = this;
    try {
      const answer = await read("/session");
      if (!answer.ok) return this.#note(await answer.text());
      const state = await answer.json();
      // The page's address can have paired this browser in the meantime.
      const hasPaired = pairings !== this.pairings;
      if (!this.link.isOpen && !hasPaired) this.needsPairing = !state.paired;
      this.#note(state.refusal ?? (isDecrypted(state) ? decrypted : ""));
      if (!state.can_read && !hasPaired) this.open();
    } catch {
      // The server cannot be reached; the link tries again later.
      this.#note("");
    } finally {
      setTimeout(() => (this.isAsking = false), 3000);
    }
  }

  /** Exchanges a code for a token, and closes the form. */
  async pair(code) {
    const answer = await fetch("/pair", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code, name: deviceName() }),
    });
    if (!answer.ok) throw new Error((await answer.json().catch(() => null))?.message ?? "The pairing failed.");
    this.pairings += 1;
    // A browser that blocks cookies does not keep the token, and stays without rights.
    const state = await read("/session").then((reply) => reply.json()).catch(() => null);
    if (state?.paired === false) throw new Error(unkept);
    if (this.dialog.open) this.#close();
    toast("Paired: this browser can steer the camera and change settings.");
    this.link.restart();
  }

  /** Withdraws the token of this browser. */
  async unpair() {
    // The server closes the connection before it answers.
    this.link.isRestarting = true;
    try {
      await fetch("/unpair", { method: "POST" });
    } finally {
      this.link.restart();
    }
  }

  /** Shows the form for the code. */
  open() {
    const input = el("input", {
      class: "code-input", id: "code", inputmode: "numeric", autocomplete: "one-time-code", maxlength: 9, required: true,
      pattern: "[0-9]{4}-?[0-9]{4}", "aria-describedby": "code-help code-error",
    });
    const problem = el("p", { id: "code-error", class: "bad", role: "alert" });
    const form = el("form", { method: "dialog", onsubmit: async (event) => {
      event.preventDefault();
      try {
        await this.pair(input.value);
      } catch (error) {
        setText(problem, error.message);
        input.select();
      }
    } },
      el("h2", { id: "pairing-title" }, "Pair this browser"),
      el("p", { id: "code-help" }, "Run ", el("code", {}, "airframectl pair web"), " on the gimbal, and type the eight digits that this command shows."),
      el("label", { for: "code" }, "Code"), input, problem,
      el("div", { class: "row" },
        el("button", { class: "main", type: "submit" }, "Pair"),
        el("button", { type: "button", onclick: () => this.#close() }, "Cancel")));
    this.dialog.replaceChildren(form);
    this.dialog.show();
    for (const node of background()) node.inert = true;
    input.focus();
  }

  /** Closes the form; the browser gives the focus back to the control that had it before. */
  #close() {
    for (const node of background()) node.inert = false;
    this.dialog.close();
  }
}

/**
 * True if the page is encrypted, but not the connection to airframe-web: a proxy decrypts it. airframe-web then refuses the page's requests
 * like those of another site.
 */
const isDecrypted = (state) => state.encrypted === false && location.protocol === "https:";
const decrypted = "A proxy decrypts the connection, and airframe-web refuses requests of an encrypted page without encryption. Set web.certificate and web.key, and let the proxy connect to airframe-web over https with the page's host name.";

const unkept = "The code is right, but this browser does not keep the cookie with the token. Permit cookies for this page, and pair with a new code.";

/** Parts of the page that do not react while the form is open. The form is not modal, because a modal dialog also disables STOP. */
function background() {
  return document.querySelectorAll(".skip, .top, #rights, #trials, #view, .bottom nav");
}

/** Name of this browser for the list of paired browsers, such as "Chrome, Android". */
function deviceName() {
  const agent = navigator.userAgent;
  // The order matters: Edge and Opera also contain "Chrome", Chrome also contains "Safari", and Android also contains "Linux".
  const first = (words) => words.find((word) => agent.includes(word));
  const browser = first(["Firefox", "Edg", "OPR", "Chrome", "Safari"]) ?? "Browser";
  const system = first(["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"]) ?? "unknown system";
  return `${{ Edg: "Edge", OPR: "Opera" }[browser] ?? browser}, ${system}`;
}
