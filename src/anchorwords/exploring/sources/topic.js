// One topic: its words by relevance, words that co-occur with its anchor, its tree, related topics and documents.

import { timeCard } from "./changes.js";
import { colourOf } from "./colour.js";
import { added, inOrder, listed, page, topicOf, topics, words } from "./data.js";
import { announce, card, el, userText } from "./dom.js";
import { FIGURES } from "./figures.js";
import { ordinal, percent, plain, times, whole } from "./format.js";
import { topicMap } from "./map.js";
import { badge, bar, barWithInterval, intervalName, topicLink, wordLink } from "./parts.js";
import { editableLabel } from "./relabel.js";
import { topicAddress } from "./routes.js";
import { groupsCard } from "./shares.js";
import { state } from "./state.js";
import { treeGraph } from "./tree.js";

/** The topic after this one in reading order, or before it; around at the ends. */
export function beside(topic, step) {
  return inOrder[(topic.reading - 1 + step + inOrder.length) % inOrder.length];
}

function place(topic, key, higherFirst) {
  const values = topics.map((other) => other[key]).filter((value) => typeof value === "number");
  const better = values.filter((value) => (higherFirst ? value > topic[key] : value < topic[key])).length;
  return `${ordinal(better + 1)} of ${values.length}`;
}

function stat(title, value, note, hint) {
  return el(
    "div",
    { class: "stat", title: hint },
    el("dt", {}, title),
    el("dd", {}, el("span", { class: "stat-value" }, value), note ? el("span", { class: "stat-note" }, note) : null),
  );
}

function stats(topic) {
  const anchors = topic.anchors.flatMap((word, i) => [i ? " + " : null, wordLink(word)]);
  const sure =
    page.level === null
      ? ""
      : `${intervalName()}: ${percent(topic.prevalence_low)} to ${percent(topic.prevalence_high)}`;
  const rows = [
    stat(
      "Prevalence",
      percent(topic.prevalence),
      sure || `${ordinal(topic.rank)} of ${topics.length}`,
      "Share of all words",
    ),
    el(
      "div",
      { class: "stat stat-anchor", title: "The word that stands for this topic alone" },
      el("dt", {}, "Anchor"),
      el("dd", {}, el("span", { class: "stat-value" }, ...anchors)),
    ),
  ];
  for (const { key, title, hint, higher } of FIGURES) {
    if (typeof topic[key] !== "number") continue;
    const kept = key === "stability" ? `; ${percent(topic.stable_words)} of its top words stay` : "";
    rows.push(stat(title, plain(topic[key]), `${place(topic, key, higher)}${kept}`, hint));
  }
  return el("dl", { class: "stats" }, ...rows);
}

/** The words of a topic in the order chosen: keywords, or relevance with its slider. */
function relevanceCard(topic) {
  const list = el("ol", { class: "word-bars", "aria-label": "Words" });
  const output = el("output", { for: "weight", class: "weight-value" });
  const fill = () => {
    const rows = listed(topic, state);
    const most = Math.max(...rows.map(({ word }) => words.probability[word]));
    list.replaceChildren(
      ...rows.map(({ word, probability }) => {
        const inside = topic.prevalence * probability;
        const all = words.probability[word];
        return el(
          "li",
          {
            title: `${percent(Math.min(inside / all, 1))} of this word is in the topic; it is ${percent(probability)} of the topic's words`,
          },
          wordLink(word, topic.anchors.includes(word) ? { class: "anchor" } : {}),
          bar(inside / most, all / most, colourOf(topic)),
          el("span", { class: "figure" }, percent(probability)),
        );
      }),
    );
    output.textContent = state.order === "keywords" ? "" : `λ = ${state.weight.toFixed(2)}`;
  };
  const choose =
    page.ranking === "keywords"
      ? el(
          "select",
          {
            id: "order",
            on: {
              change: (event) => {
                state.order = event.target.value;
                fill();
              },
            },
          },
          el("option", { value: "keywords", selected: state.order === "keywords" }, "keywords"),
          el("option", { value: "relevance", selected: state.order === "relevance" }, "relevance"),
        )
      : null;
  const slider = el("input", {
    type: "range",
    id: "weight",
    min: 0,
    max: 1,
    step: page.step,
    value: state.weight,
    "aria-describedby": "weight-help",
    on: {
      input: (event) => {
        state.weight = Number(event.target.value);
        state.order = "relevance";
        if (choose !== null) choose.value = "relevance";
        fill();
      },
    },
  });
  fill();
  const tools =
    choose === null ? null : el("div", { class: "tools" }, el("label", { for: "order" }, "order by "), choose);
  return card(
    choose === null ? "Words by relevance" : "Words",
    { class: "relevance-card", tools },
    el(
      "div",
      { class: "slider" },
      el("label", { for: "weight" }, "Relevance"),
      el("span", { class: "end" }, "only here"),
      slider,
      el("span", { class: "end" }, "most frequent"),
      output,
    ),
    list,
    el(
      "p",
      { class: "keys", id: "weight-help" },
      el(
        "span",
        { class: "key" },
        el("span", { class: "key-bar", style: { "background-color": colourOf(topic) } }),
        "in this topic",
      ),
      el("span", { class: "key" }, el("span", { class: "key-bar behind" }), "in all topics"),
      el("span", { class: "key" }, "% of the topic's words"),
    ),
  );
}

function companyCard(topic) {
  const only = added(topic);
  const column = (title, note, places) =>
    el(
      "div",
      {},
      el("h3", {}, title),
      el("p", { class: "note" }, note),
      el(
        "ol",
        { class: "word-list" },
        ...places.map((word) => el("li", {}, wordLink(word, { class: only.has(word) ? "added" : "" }))),
      ),
    );
  const lists = el("div", { class: "two" }, column("Prominent", "most probable in the topic", topic.prominent));
  if (topic.characteristic.length) {
    lists.append(column("Characteristic", "co-occur most with the anchor", topic.characteristic));
  }
  const stress = (event, on) => {
    const word = event.target.closest?.("[data-word]")?.dataset.word;
    for (const link of lists.querySelectorAll("[data-word]"))
      link.classList.toggle("same", on && link.dataset.word === word);
  };
  lists.addEventListener("pointerover", (event) => stress(event, true));
  lists.addEventListener("pointerout", (event) => stress(event, false));
  const note =
    topic.characteristic.length === 0
      ? "This model does not contain the co-occurrence of its anchors, so there are no characteristic words."
      : only.size
        ? el(
            "span",
            {},
            el("span", { class: "added sample" }, "Marked"),
            " words are added by the anchor: they are not among the most probable words.",
          )
        : "The words that co-occur most with the anchor are all among the most probable words.";
  return card("Two views of the topic", { class: "company-card" }, lists, el("p", { class: "note" }, note));
}

function treeCard(topic) {
  if (!topic.tree || topic.tree.edges.length === 0) return null;
  return card(
    "How its words are related",
    {
      class: "tree-card",
      note: `Minimum spanning tree over the first seven of both lists; its weight, ${plain(topic.tree.weight)}, is the topic's MST-Incoherence.`,
    },
    treeGraph(topic),
  );
}

function neighboursCard(topic) {
  const shown = topic.neighbours;
  if (shown.length === 0) return null;
  const most = Math.max(1.5, ...shown.map((other) => other.affinity_high ?? other.affinity));
  const rows = shown.map((other) => {
    const near = topicOf(other.topic);
    const interval =
      other.affinity_low === undefined ? "" : `, ${times(other.affinity_low)} to ${times(other.affinity_high)}`;
    return el(
      "li",
      {
        title: `${percent(other.probability)} of pairs of words; ${times(other.affinity)} as often as expected${interval}`,
      },
      topicLink(near),
      barWithInterval(other.affinity, other.affinity_low, other.affinity_high, most, 1, colourOf(near)),
      el("span", { class: "figure" }, times(other.affinity)),
    );
  });
  const bars = page.level === null ? "" : ` Thin lines are ${percent(page.level)} intervals.`;
  return card(
    "Topics in the same documents",
    {
      class: "neighbours-card",
      note: `How many times as often two topics share documents as expected from their sizes; the vertical line marks 1.${bars}`,
    },
    topicMap({ selected: topic, small: true, label: "Where the topic stands among the others" }).element,
    el("ol", { class: "neighbours" }, ...rows),
  );
}

function documentsCard(topic) {
  if (topic.documents === undefined) {
    return card(
      "Documents",
      { class: "documents-card" },
      el(
        "p",
        { class: "note" },
        "This page was made without documents. Give a corpus to list those with the largest share of the topic.",
      ),
    );
  }
  if (topic.documents.length === 0)
    return card("Documents", {}, el("p", { class: "note" }, "No document contains this topic."));
  const rows = topic.documents.map((entry) =>
    el(
      "li",
      {},
      el(
        "div",
        { class: "document-head" },
        userText(entry.name, { class: "document-name" }),
        el("span", { class: "figure" }, percent(entry.share)),
      ),
      bar(entry.share, 1, colourOf(topic)),
      entry.values
        ? el(
            "dl",
            { class: "document-values" },
            ...entry.values.map(([key, value]) =>
              el("div", {}, el("dt", {}, userText(key)), el("dd", {}, userText(value))),
            ),
          )
        : null,
      el(
        "p",
        { class: "document-words" },
        `${whole(entry.tokens)} words: `,
        ...entry.words.flatMap((word, i) => [i ? ", " : null, userText(word)]),
      ),
      entry.text ? el("p", { class: "document-text" }, userText(entry.text, { dir: "auto" })) : null,
    ),
  );
  return card(
    "Documents with the largest share",
    {
      class: "documents-card",
      note: "The share of the topic in each document, and its words that belong to the topic.",
    },
    el("ol", { class: "documents" }, ...rows),
  );
}

/** A topic's view. */
export function topicView({ topic }) {
  const step = (by, sign, name) =>
    el("a", { class: "step", href: topicAddress(beside(topic, by)), "aria-label": name, title: name }, sign);
  announce(`Topic ${topic.topic}: ${topic.label}`);
  return [
    el(
      "div",
      { class: "topic-head" },
      editableLabel(topic, el("h1", {}, badge(topic), " ", userText(topic.label))),
      el("div", { class: "steps" }, step(-1, "‹", "Previous topic"), step(1, "›", "Next topic")),
    ),
    stats(topic),
    ...topic.flags.map((flag) => el("p", { class: "flag" }, userText(flag))),
    el(
      "div",
      { class: "topic-grid" },
      el("div", { class: "column" }, relevanceCard(topic), neighboursCard(topic)),
      el("div", { class: "column" }, companyCard(topic), treeCard(topic)),
    ),
    timeCard(topic),
    groupsCard(topic),
    documentsCard(topic),
  ];
}
