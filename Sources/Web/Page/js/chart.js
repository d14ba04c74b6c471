// Live charts: the last minute of some variables on a canvas. They use no library: chart.js has 200 kB, and redraws everything for each
// value.

import { el, fixed, setText } from "./dom.js";

/** Time that a trace contains, s. */
export const spanSeconds = 60;

/** Values of the last minute, in ring buffers that are allocated once. */
export class Trace {
  constructor(names, rate) {
    this.names = names;
    this.size = spanSeconds * rate;
    this.times = new Float64Array(this.size);
    this.columns = names.map(() => new Float32Array(this.size));
    this.clear();
  }

  clear() {
    this.next = 0;
    this.count = 0;
  }

  /** Adds one message of the stream. */
  add(values, t) {
    const newest = this.count ? this.times[(this.next + this.size - 1) % this.size] : -Infinity;
    // A message can contain the tick of the previous message again.
    if (t === newest) return;
    // After a restart of the daemon, its clock begins at 0 again.
    if (t < newest) this.clear();
    this.times[this.next] = t;
    this.names.forEach((name, index) => (this.columns[index][this.next] = values[name] ?? NaN));
    this.next = (this.next + 1) % this.size;
    this.count = Math.min(this.size, this.count + 1);
  }

  /** Index in the ring buffers of the entry with this number; 0 is the oldest entry. */
  place(index) { return (this.next - this.count + index + this.size) % this.size; }

  /** Time of the newest entry, s. */
  get newest() { return this.count ? this.times[this.place(this.count - 1)] : 0; }

  /** The table of all entries. */
  get csv() {
    const lines = [["t", ...this.names].join(",")];
    for (let i = 0; i < this.count; i++) {
      const place = this.place(i);
      lines.push([this.times[place].toFixed(4), ...this.columns.map((column) => Number(column[place].toPrecision(6)))].join(","));
    }
    return `${lines.join("\n")}\n`;
  }
}

/** Chart of some columns of a trace. */
export class Chart {
  constructor(trace, title, unit, names, decimals) {
    Object.assign(this, { trace, unit, names, decimals });
    this.columns = names.map((name) => trace.names.indexOf(name));
    this.canvas = el("canvas", { class: "chart", role: "img", "aria-label": `${title}, ${unit}, over time` });
    this.items = names.map((name) => el("li", { class: name.split(".")[1] }));
    this.node = el("figure", {}, el("figcaption", {}, `${title}, ${unit}`), this.canvas, el("ul", { class: "legend" }, this.items));
  }

  /** Draws `span` seconds up to the time `end`. */
  draw(end, span) {
    const { canvas, trace } = this;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, width, height);
    const [first, last] = this.#range(end - span, end);
    if (last < first) return;
    let [low, high] = [Infinity, -Infinity];
    for (const column of this.columns) {
      for (let i = first; i <= last; i++) {
        const value = trace.columns[column][trace.place(i)];
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    if (!(low <= high)) return;
    const margin = Math.max((high - low) * 0.1, 10 ** -this.decimals, Math.abs(high) * 1e-3);
    [low, high] = [low - margin, high + margin];
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const y = (value) => height - ((value - low) / (high - low)) * height;
    this.#grid(context, { width, height, ratio, low, high, y, colour });
    context.lineWidth = 1.5 * ratio;
    this.names.forEach((name, index) => {
      context.strokeStyle = colour(name.split(".")[1]);
      context.beginPath();
      const values = trace.columns[this.columns[index]];
      const stride = Math.max(1, Math.floor((last - first) / (width * 1.5)));
      for (let i = first; i <= last; i += stride) {
        const place = trace.place(i);
        const x = ((trace.times[place] - end) / span + 1) * width;
        if (i === first) context.moveTo(x, y(values[place]));
        else context.lineTo(x, y(values[place]));
      }
      context.stroke();
      const value = values[trace.place(last)];
      setText(this.items[index], `${name.split(".")[1]} ${fixed(value, this.decimals)}`);
    });
  }

  #grid(context, { width, ratio, low, high, y, colour }) {
    context.strokeStyle = colour("line");
    context.fillStyle = colour("soft");
    context.font = `${11 * ratio}px system-ui`;
    context.lineWidth = ratio;
    const step = niceStep((high - low) / 5);
    for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
      context.beginPath();
      context.moveTo(0, y(value));
      context.lineTo(width, y(value));
      context.stroke();
      const above = y(value) > 14 * ratio ? -3 : 12;
      context.fillText(String(Number(value.toPrecision(3))).replace("-", "−"), 4 * ratio, y(value) + above * ratio);
    }
  }

  #range(begin, end) {
    const { trace } = this;
    let first = 0;
    let last = trace.count - 1;
    while (last >= 0 && trace.times[trace.place(last)] > end) last--;
    let low = 0;
    let high = last;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (trace.times[trace.place(middle)] < begin) low = middle + 1;
      else high = middle - 1;
    }
    first = low;
    return [first, last];
  }
}

/** Smallest number that is 1, 2 or 5 times a power of ten, and at least this value. */
export function niceStep(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-12)));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10);
}
