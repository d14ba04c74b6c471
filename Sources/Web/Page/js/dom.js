// Elements of the page. All text is set as text, never parsed as HTML.

const svgSpace = "http://www.w3.org/2000/svg";

/** Creates an element. `props`: attributes, or `on…` handlers; an attribute with the value `false`, `null` or `undefined` is omitted. */
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

/** Number with as many digits as an exact conversion needs. */
export function plain(value) {
  if (Array.isArray(value)) return `[${value.map(plain).join(", ")}]`;
  if (typeof value !== "number") return String(value);
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(7)));
}

/** Nodes of a sentence: text between backticks is code. */
export function rich(text) {
  return String(text).split("`").map((part, index) => (index % 2 ? el("code", {}, part) : part));
}

/** Button for an action that cannot be undone: the action needs a second press within some seconds. */
export function twice(text, question, action, props = {}) {
  let timer = null;
  const reset = () => {
    clearTimeout(timer);
    timer = null;
    setText(node, text);
  };
  const node = el("button", { type: "button", ...props, onclick: () => {
    if (timer) {
      reset();
      return action();
    }
    setText(node, question);
    toast(`${question} Press again.`);
    timer = setTimeout(reset, 4000);
    return null;
  } }, text);
  return node;
}

let toastTimer;

/** Shows a sentence to the user for a few seconds. */
export function toast(text, isBad = false) {
  const node = document.getElementById("toast");
  node.className = isBad ? "toast bad" : "toast";
  // A screen reader would read an equal text again.
  if (node.textContent !== text) node.textContent = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (node.textContent = ""), isBad ? 7000 : 4000);
}

/** Text of a refusal for the user. */
export function sentence(error) {
  const text = error?.message ?? String(error);
  return text ? text[0].toUpperCase() + text.slice(1) : "The request failed.";
}

/** Sends the request of a button, and shows the answer or the refusal. */
export async function attempt(action, quiet = false) {
  try {
    const result = await action();
    if (!quiet && result?.sentence) toast(result.sentence);
    return result ?? {};
  } catch (error) {
    if (!error?.isQuiet) toast(sentence(error), true);
    return null;
  }
}

/** Offers a text as a download. */
export function download(name, text, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
