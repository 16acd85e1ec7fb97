// Addresses within the page: what stands after the # says what is shown, so that a view can be bookmarked and sent.

import { page, placeOfWord, topicOf, words } from "./data.js";
import { shortened } from "./dom.js";

/** Address of a topic. */
export function topicAddress(topic) {
  return `#topic-${topic.topic}`;
}

/** Address of a word. */
export function wordAddress(place) {
  // A word that looks like another, as both have been cut, is called by its place.
  const text = words.text[place];
  return placeOfWord(text) === place ? `#word-${encodeURIComponent(text)}` : `#place-${place}`;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Text of an address as it can be shown: short, and without what is not to be seen or turns the direction around. */
function shownText(text) {
  return shortened(text.replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd"), 60);
}

/** A view of one topic, called by its id. */
function ofTopic(view) {
  return (number) => {
    const topic = topicOf(Number(number));
    return topic ? { view, topic } : { view: "overview", missing: `There is no topic ${shownText(number)}.` };
  };
}

function wordRoute(text) {
  const place = placeOfWord(text);
  return place === undefined
    ? { view: "overview", missing: `The word “${shownText(text)}” is not in this page.` }
    : { view: "word", place };
}

function placeRoute(number) {
  const place = Number(number);
  return place < words.text.length
    ? { view: "word", place }
    : { view: "overview", missing: `There is no word ${shownText(number)}.` };
}

function groupRoute(number) {
  const group = Number(number);
  return group < (page.groups?.rows.length ?? 0)
    ? { view: "groups", group, topic: null }
    : { view: "overview", missing: `There is no group ${shownText(number)}.` };
}

/** Addresses and what they mean, the first that fits. */
const ROUTES = [
  [/^(?:#|#overview)?$/, () => ({ view: "overview" })],
  [/^#topic-(\d+)$/, ofTopic("topic")],
  [/^#word-(.*)$/s, (text) => wordRoute(decoded(text))],
  [/^#place-(\d+)$/, placeRoute],
  [/^#space-(\d+)$/, ofTopic("space")],
  [/^#space$/, () => ({ view: "space", topic: null })],
  [/^#time$/, () => ({ view: "time" })],
  [/^#groups$/, () => ({ view: "groups", group: null, topic: null })],
  [/^#groups-(\d+)$/, ofTopic("groups")],
  [/^#group-(\d+)$/, groupRoute],
  [/^#hierarchy$/, () => ({ view: "hierarchy" })],
  [/^#model$/, () => ({ view: "model" })],
];

/** What an address asks for: a view and, for some, its subject; the overview where it asks for nothing that is here. */
export function routeOf(hash) {
  for (const [pattern, route] of ROUTES) {
    const found = pattern.exec(hash);
    if (found) return route(found[1]);
  }
  return { view: "overview", missing: `There is nothing at ${shownText(decoded(hash))} in this page.` };
}

/** Go to an address. */
export function go(address) {
  window.location.hash = address;
}
