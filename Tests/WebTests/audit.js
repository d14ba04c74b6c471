// Audit of the present page for accessibility. The value is a list of sentences, one for each problem.
(() => {
  const problems = [];
  const isShown = (node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const place = (node) => `<${node.tagName.toLowerCase()}${node.id ? ` id=${node.id}` : ""}> "${(node.textContent || "").trim().slice(0, 40)}"`;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isShown);

  // Names of controls and pictures.
  const name = (node) => {
    const by = (node.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean).map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
    return [node.getAttribute("aria-label"), by, ...[...(node.labels ?? [])].map((label) => label.textContent),
      ["INPUT", "SELECT", "CANVAS"].includes(node.tagName) ? "" : node.textContent, node.getAttribute("title")]
      .map((text) => (text ?? "").trim()).find(Boolean) ?? "";
  };
  for (const node of all("button, a[href], input, select, textarea, summary, [tabindex]:not([tabindex='-1']), [role=img], canvas, svg[role], dialog, section, nav")) {
    // The name is that of the element around it, which is a picture.
    if (node.getAttribute("aria-hidden") === "true" && node.closest("[role=img]")) continue;
    if (node.tagName === "SECTION" && !node.hasAttribute("aria-label") && node.querySelector("h1, h2, h3")) continue;
    if (!name(node)) problems.push(`${place(node)} has no name.`);
  }

  // Structure.
  const headings = all("h1, h2, h3, h4").map((node) => Number(node.tagName[1]));
  if (headings.filter((level) => level === 1).length !== 1) problems.push("The page has not exactly one h1.");
  headings.forEach((level, index) => index && level > headings[index - 1] + 1 && level !== 4 && problems.push(`A heading h${level} follows h${headings[index - 1]}.`));
  if (!document.documentElement.lang) problems.push("The page has no language.");
  if (!document.querySelector("main") || !document.querySelector("nav[aria-label]")) problems.push("A landmark is missing.");
  for (const attribute of ["for", "aria-labelledby", "aria-describedby", "aria-controls"]) {
    for (const node of all(`[${attribute}]`)) {
      for (const id of node.getAttribute(attribute).split(/\s+/)) if (!document.getElementById(id)) problems.push(`${place(node)}: ${attribute} names ${id}, which is missing.`);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) problems.push(`The id ${id} occurs twice.`);
  for (const node of all("[tabindex]")) if (node.tabIndex > 0) problems.push(`${place(node)} changes the order of the Tab key.`);

  // Contrast of text.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return { rgb: [r, g, b], a: a / 255 };
  };
  const light = ({ rgb }) => rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, index) => sum + c * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const value = colour(getComputedStyle(at).backgroundColor);
      if (value.a > 0.99) return value;
    }
    return { rgb: [255, 255, 255], a: 1 };
  };
  const seen = new Set();
  const range = document.createRange();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || seen.has(node) || !isShown(node) || node.closest("[disabled], [aria-disabled=true], script, noscript, option")) continue;
    seen.add(node);
    range.selectNodeContents(walker.currentNode);
    const isOutside = [...range.getClientRects()].some((box) => box.width > 0 && (box.left < -1 || box.right > innerWidth + 1));
    if (isOutside && !node.closest(".skip, .scroll, .spoken")) problems.push(`${place(node)} is partly outside the window.`);
    const style = getComputedStyle(node);
    const [a, b] = [light(colour(node instanceof SVGElement ? style.fill : style.color)), light(ground(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < least) problems.push(`${place(node)} has a contrast of ${ratio.toFixed(2)}, less than ${least}.`);
  }

  // Touch and small windows.
  for (const node of all("button, select, summary, nav a, input:not([type=checkbox]):not([type=radio])")) {
    const box = node.getBoundingClientRect();
    if (box.height < 36 || box.width < 36) problems.push(`${place(node)} is ${Math.round(box.width)} × ${Math.round(box.height)} px, too small for a finger.`);
  }
  for (const node of all("button, .button, nav a, h1, h2, h3, h4, dt, dd, th, td, label, summary, select")) {
    if (node.clientWidth && node.scrollWidth > node.clientWidth + 1) problems.push(`${place(node)} is wider than its box.`);
  }
  // The buttons at the bottom must not cover the end of the page.
  const bottom = document.querySelector(".bottom").getBoundingClientRect();
  const room = parseFloat(getComputedStyle(document.body).paddingBottom);
  if (bottom.width >= innerWidth && bottom.height > room) problems.push(`The buttons at the bottom are ${Math.round(bottom.height)} px high, and cover the end of the page.`);
  if (document.scrollingElement.scrollWidth > innerWidth) problems.push(`The page is ${document.scrollingElement.scrollWidth} px wide, wider than the window of ${innerWidth} px.`);
  return problems;
})();
