// One word: whose it is, what it goes with, where it stands.

import { colourOf } from "./colour.js";
import { anchoredBy, page, pairs, rankOfWord, space, topicOf, topics, topicsOfWord, words } from "./data.js";
import { announce, card, el, userText } from "./dom.js";
import { ordinal, percent, times, whole } from "./format.js";
import { topicMap } from "./map.js";
import { bar, topicLink, wordLink } from "./parts.js";
import { spaceCanvas } from "./space.js";

function joined(found) {
  return found.flatMap((topic, i) => [i ? ", " : null, topicLink(topic)]);
}

function sentences(place) {
  const among = words.text.length < page.n_words ? ` of the ${whole(words.text.length)} in this page` : "";
  const parts = [
    el(
      "p",
      { class: "lede" },
      `The ${ordinal(rankOfWord(place))} most frequent word${among}: ${percent(words.probability[place])} of all words.`,
    ),
  ];
  const anchors = anchoredBy(place);
  if (anchors.length) parts.push(el("p", {}, "It is the anchor of ", ...joined(anchors), "."));
  const listed = topics.filter((topic) => topic.prominent.includes(place) || topic.characteristic.includes(place));
  if (listed.length) {
    parts.push(
      el(
        "p",
        {},
        `Among the top words of ${listed.length === 1 ? "one topic" : `${whole(listed.length)} topics`}: `,
        ...joined(listed.slice(0, 8)),
        listed.length > 8 ? " and others." : ".",
      ),
    );
  }
  return parts;
}

function topicsCard(place) {
  const shares = topicsOfWord(place);
  const rest = 1 - shares.reduce((sum, [, share]) => sum + share, 0);
  const rows = shares.map(([id, share]) =>
    el(
      "li",
      {},
      topicLink(topicOf(id)),
      bar(share, null, colourOf(topicOf(id))),
      el("span", { class: "figure" }, percent(share)),
    ),
  );
  if (rest > 0.005) {
    rows.push(
      el(
        "li",
        {},
        el("span", { class: "muted" }, "other topics"),
        bar(rest),
        el("span", { class: "figure" }, percent(rest)),
      ),
    );
  }
  const heat = new Map(shares);
  return card(
    "Topics of this word",
    {
      class: "whose-card",
      note: "p(topic | word): the share of its occurrences that belongs to each topic.",
    },
    el("ol", { class: "neighbours" }, ...rows),
    topicMap({ heat, small: true, label: "The topics of this word on the map" }).element,
  );
}

function companionsCard(place) {
  const found = pairs(words.companions[place]);
  if (found.length === 0)
    return card(
      "Co-occurring words",
      {},
      el("p", { class: "note" }, "No word co-occurs with it more often than by chance."),
    );
  const most = Math.max(...found.map(([, lift]) => Math.log2(Math.max(lift, 1))), 1e-9);
  const rows = found.map(([other, lift]) =>
    el(
      "li",
      { title: `in the same documents ${times(lift)} as often as by chance` },
      wordLink(other),
      bar(Math.log2(Math.max(lift, 1)) / most),
      el("span", { class: "figure" }, times(lift)),
    ),
  );
  return card(
    "Co-occurring words",
    {
      class: "company-of-word",
      note: "Words in the same documents, and how many times as often as by chance, according to the co-occurrence that the model was fitted to.",
    },
    el("ol", { class: "word-bars" }, ...rows),
  );
}

function spaceCard(place) {
  if (space === null || space.x[place] === null) return null;
  return card(
    "Place in the co-occurrence space",
    {
      class: "where-card",
      note: el("span", {}, "In the ", el("a", { href: "#space" }, "co-occurrence space"), ", between the anchors."),
    },
    spaceCanvas({ word: place, small: true, label: "Where the word stands in the co-occurrence space" }).element,
  );
}

/** A word's view. */
export function wordView({ place }) {
  announce(`Word ${words.text[place]}`);
  return [
    el("h1", {}, userText(words.text[place])),
    ...sentences(place),
    el("div", { class: "word-grid" }, topicsCard(place), companionsCard(place), spaceCard(place)),
  ];
}
