// Elements of the page. All text is set as text, never parsed as HTML.

const svgSpace = "http://www.w3.org/2000/svg";

/** Creates an element. `props`: attributes, or `on…` handlers; a value of `false`, `null` or `undefined` leaves it out. */
export function el(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** Creates an SVG element. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(svgSpace, tag), props, children);
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Sets the text of a node only if it changes, so that screen readers do not repeat it. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Number with fixed decimals; a dash if it is unknown. */
export function fixed(number, decimals = 1) {
  if (typeof number !== "number" || !Number.isFinite(number)) return "–";
  const text = number.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** Number with as many digits as it needs. */
export function plain(value) {
  if (Array.isArray(value)) return `[${value.map(plain).join(", ")}]`;
  if (typeof value !== "number") return String(value);
  return String(Number(value.toPrecision(7)));
}

let toastTimer;

/** Shows a sentence for a few seconds. */
export function toast(text, isBad = false) {
  const node = document.getElementById("toast");
  node.className = isBad ? "toast bad" : "toast";
  node.textContent = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (node.textContent = ""), isBad ? 7000 : 4000);
}

/** Text of a refusal for people. */
export function sentence(error) {
  const text = error?.message ?? String(error);
  return text ? text[0].toUpperCase() + text.slice(1) : "The request failed.";
}

/** Runs a request of a button, and shows its answer or its refusal. */
export async function attempt(action, quiet = false) {
  try {
    const result = await action();
    if (!quiet && result?.sentence) toast(result.sentence);
    return result ?? {};
  } catch (error) {
    toast(sentence(error), true);
    return null;
  }
}

/** Passes text to the browser as a file. */
export function download(name, text, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
