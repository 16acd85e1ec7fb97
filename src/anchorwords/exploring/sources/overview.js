// The first view: what there is, on a map and in a table.

import { byRank, edges, inOrder, page, topicOf, topics } from "./data.js";
import { card, el, userText } from "./dom.js";
import { percent, whole } from "./format.js";
import { COLOURINGS, colourScale, topicMap } from "./map.js";
import { topicLink } from "./parts.js";
import { state } from "./state.js";
import { topicTable } from "./table.js";

function strongest() {
  const found = [...edges].sort((a, b) => b[2] - a[2]).find(([, , , sure]) => sure !== false);
  return found ?? null;
}

function sentences() {
  const n = topics.length;
  const first = inOrder.slice(0, 3);
  const few = Math.max(1, Math.round(n / 4));
  const held = byRank.slice(0, few).reduce((sum, topic) => sum + topic.prevalence, 0);
  const learned = page.n_documents === null ? "" : `${whole(page.n_documents)} documents and `;
  const parts = [
    el(
      "p",
      { class: "lede" },
      `${whole(n)} ${n === 1 ? "topic" : "topics"} learned from ${learned}${whole(page.n_words)} words.`,
    ),
    n === 1
      ? null
      : el(
          "p",
          {},
          n > 3 ? "Begin with the large and specific topics: " : "In reading order: ",
          ...first.flatMap((topic, i) => [
            i === 0 ? null : i === first.length - 1 ? " and " : ", ",
            topicLink(topic),
            ` (${percent(topic.prevalence)})`,
          ]),
          ".",
          n > 4 ? ` The ${whole(few)} largest topics hold ${percent(held)} of all words.` : null,
        ),
  ];
  const pair = strongest();
  if (pair !== null) {
    parts.push(
      el(
        "p",
        {},
        "Most often in the same documents: ",
        topicLink(topicOf(pair[0])),
        " and ",
        topicLink(topicOf(pair[1])),
        `, ${Number(pair[2].toPrecision(2))} times as often as expected from their sizes.`,
      ),
    );
  }
  if (page.background !== null) {
    parts.push(
      el(
        "p",
        { class: "background" },
        `Common words are kept apart from the topics. They make up ${percent(page.background.share)} of a document on average: `,
        ...page.background.words.flatMap((word, i) => [i ? ", " : null, userText(word)]),
        ".",
      ),
    );
  }
  const sure = topics.filter((topic) => typeof topic.stability === "number");
  if (sure.length > 1) {
    const order = [...sure].sort((a, b) => a.stability - b.stability);
    const weak = order.filter((topic) => topic.stability < 0.5);
    parts.push(
      weak.length === 0
        ? el(
            "p",
            {},
            "All topics are found again in resampled documents; the least stable is ",
            topicLink(order[0]),
            ".",
          )
        : el(
            "p",
            {},
            `${whole(weak.length)} ${weak.length === 1 ? "topic is" : "topics are"} unreliable (stability below 0.5); `,
            "the least stable is ",
            topicLink(order[0]),
            ".",
          ),
    );
  }
  return parts;
}

function reading() {
  const lines = [
    [
      "Circles",
      "are topics. Larger ones make up more of the text. Topics near each other share documents, and lines join the pairs that share most; a line is dashed if that is uncertain.",
    ],
    ["Anchor", "is a word that occurs almost only in one topic. The model starts from the anchors."],
    [
      "Incoherence",
      "is low if the words of a topic often occur together. Specificity is high if they are rare in other topics.",
    ],
  ];
  return el(
    "dl",
    { class: "reading" },
    ...lines.flatMap(([term, meaning]) => [el("dt", {}, term), el("dd", {}, meaning)]),
  );
}

/** The overview as a list of elements. */
export function overview({ missing = null }) {
  const map = topicMap({ label: "Map of topics; arrow keys go from topic to topic, Enter opens one" });
  const scale = el("span", {});
  const rescale = () => scale.replaceChildren(...(state.colourBy === "topic" ? [] : [colourScale(state.colourBy)]));
  const choose = el(
    "select",
    {
      id: "colour-by",
      on: {
        change: (event) => {
          state.colourBy = event.target.value;
          map.repaint();
          rescale();
        },
      },
    },
    ...COLOURINGS.map(({ key, title }) => el("option", { value: key, selected: key === state.colourBy }, title)),
  );
  rescale();
  const table = topicTable();
  const tools = el(
    "div",
    { class: "tools" },
    scale,
    el("label", { for: "colour-by" }, "colour by "),
    choose,
    map.tools,
  );
  return [
    missing === null ? null : el("p", { class: "missing-note", role: "status" }, userText(missing)),
    el("h1", {}, userText(page.title)),
    el(
      "div",
      { class: "overview-top" },
      card("Map of topics", { class: "map-card", tools }, map.element),
      card("In short", { class: "short-card" }, ...sentences(), reading()),
    ),
    card(
      "Topics",
      {
        class: "table-card",
        tools: table.tools,
        note: "In reading order, large and specific topics come first and vague ones last. Click a column to sort by it, a topic or a word to see more of it.",
      },
      table.element,
    ),
  ];
}
