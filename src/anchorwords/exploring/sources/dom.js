// Elements from plain values. Text only ever becomes text: nothing in this page parses markup.

const NOTHING_TO_SEE = /^[\s\p{Cf}\p{Mn}]*$/u;
const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "style") {
      for (const [property, setting] of Object.entries(value)) node.style.setProperty(property, setting);
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An HTML element: attributes, listeners under `on`, properties under `style`; strings among the children become text. */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** User text, kept apart from the text around it whatever its direction. */
export function userText(text, attributes = {}) {
  return el("bdi", attributes, NOTHING_TO_SEE.test(text) ? "(blank)" : text);
}

/** A part of a page with a heading. */
export function card(title, attributes, ...children) {
  const { note, tools, ...others } = attributes;
  return el(
    "section",
    { ...others, class: `card ${others.class ?? ""}` },
    el("div", { class: "card-head" }, el("h2", {}, title), tools ?? null),
    note ? el("p", { class: "note" }, note) : null,
    ...children,
  );
}

/** A part of the page for readers of screens, said aloud when it changes. */
export function announce(sentence) {
  document.getElementById("live").textContent = sentence;
}

let context = null;

/** Width of a text in pixels. */
export function textWidth(text, font) {
  context ??= document.createElement("canvas").getContext("2d");
  context.font = font;
  return context.measureText(text).width;
}

/** A text cut so that it has at most so many characters, not within one. */
export function shortened(text, longest) {
  const characters = Array.from(text);
  return characters.length <= longest
    ? text
    : `${characters
        .slice(0, longest - 1)
        .join("")
        .trimEnd()}…`;
}

/** As many whole words of a label as there is room for, at least a part of the first. */
export function fewerWords(label, longest) {
  if (label.length <= longest) return label;
  const end = label.lastIndexOf(" ", longest);
  return end > 0 ? label.slice(0, end).replace(/[\s·-]+$/, "") : shortened(label, longest);
}
