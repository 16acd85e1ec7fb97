// Small parts that several views share: links to topics and words, bars, the tip at the pointer.

import { colourOf } from "./colour.js";
import { page, words } from "./data.js";
import { el, shortened, userText } from "./dom.js";
import { percent } from "./format.js";
import { topicAddress, wordAddress } from "./routes.js";

/** A word as a link to its own view. */
export function wordLink(place, attributes = {}) {
  const { class: more = "", longest = Number.POSITIVE_INFINITY, ...others } = attributes;
  return el(
    "a",
    { ...others, class: `word ${more}`, href: wordAddress(place), "data-word": place },
    userText(shortened(words.text[place], longest)),
  );
}

/** The colour and the number of a topic. */
export function badge(topic) {
  return el(
    "span",
    { class: "badge" },
    el("span", { class: "swatch", style: { "background-color": colourOf(topic) } }),
    String(topic.topic),
  );
}

/** A topic as a link: its colour, number and label. */
export function topicLink(topic) {
  return el(
    "a",
    { class: "topic-link", href: topicAddress(topic) },
    badge(topic),
    " ",
    userText(topic.label, { class: "label" }),
  );
}

/** A bar as wide as a share of the room, in front of one for a larger share. */
export function bar(share, behind = null, colour = null) {
  const width = (value) => `${(100 * Math.min(Math.max(value, 0), 1)).toFixed(2)}%`;
  return el(
    "span",
    { class: "bar", "aria-hidden": "true" },
    behind === null ? null : el("span", { class: "bar-behind", style: { width: width(behind) } }),
    el("span", {
      class: "bar-front",
      style: colour === null ? { width: width(share) } : { width: width(share), "background-color": colour },
    }),
  );
}

/** A bar with whiskers for an interval, and a line where one is; `most` is the end of the scale. */
export function barWithInterval(value, low, high, most, one, colour) {
  const at = (number) => `${(100 * Math.min(Math.max(number / most, 0), 1)).toFixed(2)}%`;
  const node = bar(value / most, null, colour);
  if (one !== null) node.append(el("span", { class: "bar-line", style: { left: at(one) } }));
  if (low !== null && low !== undefined) {
    const width = `${(100 * (Math.min(high / most, 1) - Math.min(Math.max(low / most, 0), 1))).toFixed(2)}%`;
    node.append(el("span", { class: "whisker", style: { left: at(low), width } }));
  }
  return node;
}

/** "a 90% interval" of the error bars. */
export function intervalName() {
  return page.level === null ? "" : `${percent(page.level)} interval`;
}

/** What a view leaves out, as sentences. */
export function notesOf({ notes }) {
  return notes.length ? el("p", { class: "note" }, userText(notes.join(" "))) : null;
}

/** Show a tip beside the pointer, or beside an element that has the focus. */
export function showTip(x, y, ...children) {
  const tip = document.getElementById("tip");
  tip.replaceChildren(...children);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 14 + width > window.innerWidth ? x - 14 - width : x + 14;
  const top = y + 14 + height > window.innerHeight ? y - 14 - height : y + 14;
  tip.style.setProperty("left", `${Math.max(4, left)}px`);
  tip.style.setProperty("top", `${Math.max(4, top)}px`);
}

/** Hide the tip. */
export function hideTip() {
  document.getElementById("tip").hidden = true;
}
