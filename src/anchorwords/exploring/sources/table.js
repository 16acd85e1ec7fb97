// The table of topics, sorted by a click on any column.

import { colourOf } from "./colour.js";
import { between, byRank, page, relevant, topics, words } from "./data.js";
import { announce, el } from "./dom.js";
import { percent, plain } from "./format.js";
import { bar, barWithInterval, intervalName, topicLink, wordLink } from "./parts.js";
import { state } from "./state.js";

const has = (key) => topics.some((topic) => typeof topic[key] === "number");
const widest = Math.max(...topics.map((topic) => topic.prevalence_high ?? topic.prevalence));
const N_WORDS = 8;
const LONGEST = 36;
/** Names of figures where there is no room for columns. */
const SHORT = {
  stability: "stability",
  specificity: "specificity",
  mst_incoherence: "incoherence",
  npmi_coherence: "NPMI",
};

/** Widths of columns that are not figures. The roles are named as rows that are no table rows to the style sheet lose them. */
const WIDTHS = { label: "minmax(11em, 1.2fr)", anchor: "10.5em", words: "minmax(14em, 2fr)" };

/** Columns: a title, what to sort by, whether the largest come first, what stands in a cell. */
const COLUMNS = [
  {
    key: "label",
    title: "Topic",
    hint: "number and label",
    value: (topic) => topic.topic,
    descending: false,
    cell: (topic) => el("th", { scope: "row", role: "rowheader", class: "c-topic" }, topicLink(topic)),
  },
  {
    key: "prevalence",
    title: "Prevalence",
    hint: page.level === null ? "share of all words" : `share of all words, with its ${intervalName()}`,
    value: (topic) => topic.prevalence,
    descending: true,
    cell: (topic) =>
      el(
        "td",
        { role: "cell", class: "c-prevalence", "data-short": "share" },
        el("span", { class: "figure" }, percent(topic.prevalence)),
        barWithInterval(topic.prevalence, topic.prevalence_low, topic.prevalence_high, widest, null, colourOf(topic)),
      ),
  },
  {
    key: "stability",
    title: "Stability",
    hint: "how much of the topic is there again in other draws of the documents: 1 is all of it",
    value: (topic) => topic.stability ?? null,
    descending: true,
    cell: (topic) => figure(topic.stability, "stability"),
  },
  {
    key: "specificity",
    title: "Specificity",
    hint: "bits by which its words differ from words in general: higher is more of its own",
    value: (topic) => topic.specificity ?? null,
    descending: true,
    cell: (topic) => figure(topic.specificity, "specificity"),
  },
  {
    key: "mst_incoherence",
    title: "Incoherence",
    hint: "MST-Incoherence: how far apart its top words are from each other; lower is better",
    value: (topic) => topic.mst_incoherence ?? null,
    descending: false,
    cell: (topic) => figure(topic.mst_incoherence, "mst_incoherence"),
  },
  {
    key: "npmi_coherence",
    title: "NPMI",
    hint: "NPMI coherence: how much more often its top words share documents than by chance; higher is better",
    value: (topic) => topic.npmi_coherence ?? null,
    descending: true,
    cell: (topic) => figure(topic.npmi_coherence, "npmi_coherence"),
  },
  {
    key: "anchor",
    title: "Anchor",
    hint: "the word that stands for this topic alone",
    value: (topic) => words.text[topic.anchors[0]].toLowerCase(),
    descending: false,
    cell: (topic) =>
      el("td", { role: "cell", class: "c-anchor", "data-short": "anchor" }, ...apart(topic.anchors, " + ")),
  },
  {
    key: "words",
    title: "Words",
    hint: "the most relevant first",
    value: null,
    cell: (topic) =>
      el(
        "td",
        { role: "cell", class: "c-words" },
        ...apart(
          relevant(topic, state.weight, N_WORDS).map(({ word }) => word),
          between,
        ),
      ),
  },
].filter(({ key }) => !["stability", "npmi_coherence", "mst_incoherence", "specificity"].includes(key) || has(key));

function apart(places, separator) {
  return places.flatMap((place, i) => [i ? separator : null, wordLink(place, { longest: LONGEST })]);
}

/** Largest value of each figure: where its bar ends. */
const largest = new Map(
  Object.keys(SHORT).map((key) => [key, Math.max(...topics.map((topic) => topic[key] ?? 0), 1e-12)]),
);

function figure(value, key) {
  if (typeof value !== "number") return el("td", { role: "cell", class: "c-figure missing" }, "–");
  return el(
    "td",
    { role: "cell", class: "c-figure", "data-short": SHORT[key] },
    el("span", { class: "figure" }, plain(value)),
    bar(Math.max(value, 0) / largest.get(key)),
  );
}

function sorted() {
  const column = COLUMNS.find(({ key }) => key === state.sort.column) ?? COLUMNS[1];
  const sign = state.sort.descending ? -1 : 1;
  // From the order of prevalence, which ties keep; what has no value comes last, either way.
  return [...byRank].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return sign * (typeof x === "string" ? x.localeCompare(y) : x - y);
  });
}

/** The table as an element. */
export function topicTable() {
  const body = el("tbody", { role: "rowgroup" });
  const heads = COLUMNS.map((column) => {
    const button =
      column.value === null
        ? el("span", { title: column.hint }, column.title)
        : el(
            "button",
            { type: "button", class: "sort", title: column.hint, on: { click: () => choose(column) } },
            column.title,
            el("span", { class: "arrow", "aria-hidden": "true" }),
          );
    return el(
      "th",
      { scope: "col", role: "columnheader", class: `c-${column.key}`, "data-column": column.key },
      button,
    );
  });
  // Rows are made once and put in order again.
  const rows = topics.map((topic) =>
    el("tr", { role: "row", "data-topic": topic.topic }, ...COLUMNS.map((column) => column.cell(topic))),
  );
  const fill = () => {
    body.replaceChildren(...sorted().map((topic) => rows[topic.topic]));
    heads.forEach((head, i) => {
      const own = COLUMNS[i].key === state.sort.column;
      if (own) head.setAttribute("aria-sort", state.sort.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };
  const choose = (column) => {
    const again = state.sort.column === column.key;
    state.sort = { column: column.key, descending: again ? !state.sort.descending : column.descending };
    fill();
    announce(`Sorted by ${column.title}, ${state.sort.descending ? "largest" : "smallest"} first`);
  };
  fill();
  return el(
    "div",
    { class: "table-room", tabindex: 0, role: "region", "aria-label": "Table of topics" },
    el(
      "table",
      {
        role: "table",
        class: "topics",
        style: { "--columns": COLUMNS.map((column) => WIDTHS[column.key] ?? "7.8em").join(" ") },
      },
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...heads)),
      body,
    ),
  );
}
