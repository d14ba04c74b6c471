// Live values: one stream of variables for all views, and the status, read every half second while the page is visible.

const axes = ["yaw", "roll", "pitch"];
const groups = ["attitude", "setpoint", "error", "rate", "torque", "joint"];
const statusPeriod = 500;

export class Live extends EventTarget {
  constructor(link) {
    super();
    this.link = link;
    this.status = null;
    this.values = {};
    this.t = 0;
    this.names = groups.flatMap((group) => axes.map((axis) => `${group}.${axis}`));
    link.addEventListener("open", () => this.poll());
    link.addEventListener("lost", () => { this.values = {}; });
    document.addEventListener("visibilitychange", () => this.#stream());
    link.addEventListener("open", () => this.#stream());
    setInterval(() => document.hidden || this.poll(), statusPeriod);
  }

  /** Values of a group's variable on the three axes, in the variable's unit. */
  axes(group) {
    return Object.fromEntries(axes.map((axis) => [axis, this.values[`${group}.${axis}`]]));
  }

  #stream() {
    if (document.hidden) {
      this.end?.();
      this.end = null;
    } else {
      this.end ??= this.link.subscribe(this.names, 60, (values, t) => {
        this.values = values;
        this.t = t;
        this.dispatchEvent(new Event("values"));
      });
    }
  }

  /** Reads the status, one request at a time. */
  async poll() {
    if (!this.link.isOpen || this.isPolling) return;
    this.isPolling = true;
    try {
      this.status = await this.link.request("status");
      this.dispatchEvent(new Event("status"));
    } catch {
      // The link reports a lost connection.
    } finally {
      this.isPolling = false;
    }
  }
}

/** Names of the reasons that a user has requested; all other reasons are problems. */
const wishes = ["inactive_mode", "retracted", "calibrating"];

/** True if an emergency stop is latched. */
export function isStopped(status) { return Boolean(status?.inhibitions.some((reason) => reason.name === "emergency_stop")); }

/** Summary of a status, which is the first line of `airframectl status`. */
export function summary(status) {
  const problems = status.inhibitions.filter((reason) => !wishes.includes(reason.name));
  const sentences = status.inhibitions.map((reason) => reason.sentence);
  if (status.enabled) {
    if (problems.length) return { headline: "MOVING, WITH A PROBLEM", role: "care", sentences };
    if (!sentences.length) {
      const errors = axes.map((axis) => Math.abs(status.error_deg[axis])).filter(Number.isFinite);
      sentences.push(errors.length
        ? `The motors are on; the largest attitude error is ${Math.max(...errors).toFixed(3)}°.`
        : `The motors are on; the mode is ${status.mode}.`);
    }
    // `soft stop` is the name of the phase `stopping` of the supervisor.
    if (status.state === "soft stop") {
      return { headline: "STOPPING", role: "care", sentences: ["The motors ramp down, and are then switched off.", ...sentences] };
    }
    return { headline: "MOVING", role: "good", sentences };
  }
  if (problems.length) return { headline: "NOT MOVING", role: "bad", sentences };
  if (!sentences.length) sentences.push("The motors are off; they are switched on when the start-up checks have passed.");
  return { headline: "OFF", role: "care", sentences };
}

export { axes };
