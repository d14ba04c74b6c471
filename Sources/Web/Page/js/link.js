// Connection to airframed: the diagnostics protocol, one JSON text in each WebSocket message.

/** Shortest and longest pause before a new attempt to connect, ms. */
const pauses = [100, 700];
/** Longest wait for an answer, ms. */
const patience = 8000;
/** Time without a message or an answer after which a connection counts as lost, ms. The page requests the status every half second. */
const silence = 4000;
/** Longest duration of an attempt to connect, ms. After a gap in the network, browsers repeat a lost packet only after many seconds. */
const opening = 2500;

/**
 * Requests a small answer of airframe-web over HTTP; the promise is rejected if the answer does not arrive in time. After a gap in the
 * network, the browser waits for minutes for an answer that was lost.
 */
export function read(path) {
  return fetch(path, { cache: "no-store", signal: AbortSignal.timeout(silence) });
}

/** Requests, answers and streams. Events: `open` and `lost`. */
export class Link extends EventTarget {
  constructor(url) {
    super();
    this.url = url;
    this.isOpen = false;
    this.identity = null;
    this.waiting = new Map();
    this.streams = new Map();
    this.wanted = new Set();
    this.nextId = 1;
    this.attempts = 0;
    setInterval(() => this.#watch(), 1000);
    // A hidden page receives nothing, so silence does not mean a lost connection.
    document.addEventListener("visibilitychange", () => (this.heard = performance.now()));
  }

  /** Connects with a new WebSocket, or with one that is already being opened. */
  connect(early = null) {
    clearTimeout(this.timer);
    const socket = early && early.readyState < WebSocket.CLOSING ? early : new WebSocket(this.url, "airframe");
    this.socket = socket;
    this.heard = performance.now();
    socket.onopen = () => this.#opened(socket);
    socket.onmessage = (event) => this.#received(event.data);
    socket.onclose = (event) => socket === this.socket && this.#closed(event);
    if (socket.readyState === WebSocket.OPEN) this.#opened(socket);
  }

  /** Time for which the oldest request has waited for its answer, ms. */
  get delay() {
    const [oldest] = this.waiting.values();
    return oldest ? performance.now() - oldest.begin : 0;
  }

  /** True if this tab can move and change something. */
  get canWrite() { return this.isOpen && this.identity?.can_write === true; }

  /** Sends a request; the promise gets the result, or is rejected with the daemon's error. */
  request(method, params = {}) {
    if (!this.isOpen && method !== "client") {
      return Promise.reject(this.#loss);
    }
    return this.#send(method, params);
  }

  get #loss() { return { code: "lost", message: "There is no connection to airframed.", isQuiet: this.isRestarting }; }

  #send(method, params) {
    // Between the start of a socket's closing and its `close` event, `isOpen` is still true.
    if (this.socket?.readyState !== WebSocket.OPEN) return Promise.reject(this.#loss);
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject({ code: "timeout", message: `airframed has not answered ${method} in time.` });
      }, patience);
      this.waiting.set(id, { resolve, reject, timer, begin: performance.now() });
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }

  /** Sends a request if the network accepts it immediately, and does not wait for the answer. A rate request that waits would be obsolete.
   * */
  hurry(method, params, isUrgent = false) {
    if (!this.isOpen || (!isUrgent && this.socket.bufferedAmount > 4096)) return false;
    this.request(method, params).catch((error) => {
      if (error.code !== "lost") this.dispatchEvent(new CustomEvent("refused", { detail: { ...error, method } }));
    });
    return true;
  }

  /** Begins a stream, and restarts it after each new connection; the result is a function that ends the stream. */
  subscribe(names, rate, receive) {
    const stream = { names, rate, receive, number: null };
    this.wanted.add(stream);
    if (this.isOpen) this.#begin(stream);
    return () => {
      this.wanted.delete(stream);
      if (stream.number === null) return;
      this.streams.delete(stream.number);
      if (this.isOpen) this.request("unsubscribe", { subscription: stream.number }).catch(() => {});
      stream.number = null;
    };
  }

  async #begin(stream) {
    try {
      const info = await this.request("subscribe", { names: stream.names, rate: stream.rate });
      stream.number = info.subscription;
      if (this.wanted.has(stream)) this.streams.set(info.subscription, stream);
      else this.request("unsubscribe", { subscription: info.subscription }).catch(() => {});
    } catch (error) {
      // After a lost connection, the stream begins again.
      if (error.code !== "lost") this.dispatchEvent(new CustomEvent("refused", { detail: error }));
    }
  }

  async #opened(socket) {
    this.heard = performance.now();
    try {
      this.identity = await this.#send("client", {});
    } catch {
      socket.close();
      return;
    }
    if (socket !== this.socket) return;
    this.isOpen = true;
    this.attempts = 0;
    this.streams.clear();
    this.wanted.forEach((stream) => this.#begin(stream));
    this.dispatchEvent(new Event("open"));
  }

  #received(text) {
    this.heard = performance.now();
    const message = JSON.parse(text);
    if (message.subscription !== undefined) {
      this.streams.get(message.subscription)?.receive(message.values, message.t, message);
      return;
    }
    const entry = this.waiting.get(message.id);
    if (!entry) return;
    this.waiting.delete(message.id);
    clearTimeout(entry.timer);
    if (message.error) entry.reject(explained(message.error));
    else entry.resolve(message.result);
  }

  #closed(event) {
    const wasOpen = this.isOpen;
    this.isOpen = false;
    this.streams.clear();
    this.wanted.forEach((stream) => (stream.number = null));
    for (const entry of this.waiting.values()) {
      clearTimeout(entry.timer);
      const message = event.reason || "The connection to airframed was lost.";
      entry.reject({ code: "lost", message, isQuiet: this.isRestarting });
    }
    this.waiting.clear();
    const isQuiet = this.isRestarting;
    this.isRestarting = false;
    this.dispatchEvent(new CustomEvent("lost", { detail: { code: event.code, reason: event.reason, wasOpen, isQuiet } }));
    const pause = Math.min(pauses[1], pauses[0] * 2 ** this.attempts++);
    this.timer = setTimeout(() => this.connect(), pause);
  }

  /** Connects again immediately, with new rights. */
  restart() {
    const socket = this.socket;
    this.isRestarting = socket !== null && socket.readyState !== WebSocket.CLOSED;
    if (!this.isRestarting) return this.connect();
    if (socket.readyState !== WebSocket.CLOSING) return socket.close();
    // The event of a close that the server has begun can come seconds later.
    socket.onclose = null;
    this.#closed({ code: 4001, reason: "" });
    return this.connect();
  }

  /** Detects a lost connection or attempt: a network that fails closes neither. */
  #watch() {
    const socket = this.socket;
    if (!socket || socket.readyState === WebSocket.CLOSED || document.hidden) return;
    const limit = socket.readyState === WebSocket.CONNECTING ? opening : silence;
    if (performance.now() - this.heard < limit) return;
    this.socket = null;
    socket.onclose = null;
    socket.close();
    this.#closed({ code: 4000, reason: "" });
  }
}

/** Refusal for the user of this page: airframe-web makes the connection of a browser read-only if the browser is not paired. */
function explained(error) {
  if (error.field !== "read_only") return error;
  return { ...error, message: "This browser is not paired, so it can only watch. Touch Pair, and type the code that airframectl pair web shows." };
}
