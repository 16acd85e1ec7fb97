// The table of topics, sorted by a click on any column.

import { colourOf } from "./colour.js";
import { between, inOrder, listed, page, topics, words } from "./data.js";
import { announce, el } from "./dom.js";
import { FIGURES } from "./figures.js";
import { percent, plain } from "./format.js";
import { bar, barWithInterval, intervalName, topicLink, wordLink } from "./parts.js";
import { editableLabel } from "./relabel.js";
import { state } from "./state.js";

const widest = Math.max(...topics.map((topic) => topic.prevalence_high ?? topic.prevalence));
const N_WORDS = 8;
const LONGEST = 36;
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
    cell: (topic) =>
      el("th", { scope: "row", role: "rowheader", class: "c-topic" }, editableLabel(topic, topicLink(topic))),
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
  ...FIGURES.map((figure) => ({
    key: figure.key,
    title: figure.column,
    hint: figure.hint,
    value: (topic) => topic[figure.key] ?? null,
    descending: figure.higher,
    cell: (topic) => figureCell(topic[figure.key], figure),
  })),
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
    hint: page.ranking === "keywords" ? "the words that set its documents apart" : "the most relevant first",
    value: null,
    cell: (topic) =>
      el(
        "td",
        { role: "cell", class: "c-words" },
        ...apart(
          listed(topic, state, N_WORDS).map(({ word }) => word),
          between,
        ),
      ),
  },
];

function apart(places, separator) {
  return places.flatMap((place, i) => [i ? separator : null, wordLink(place, { longest: LONGEST })]);
}

/** Largest value of each figure: where its bar ends. */
const largest = new Map(FIGURES.map(({ key }) => [key, Math.max(...topics.map((topic) => topic[key] ?? 0), 1e-12)]));

function figureCell(value, { key, column }) {
  if (typeof value !== "number") return el("td", { role: "cell", class: "c-figure missing" }, "–");
  return el(
    "td",
    { role: "cell", class: "c-figure", "data-short": column === "NPMI" ? column : column.toLowerCase() },
    el("span", { class: "figure" }, plain(value)),
    bar(Math.max(value, 0) / largest.get(key)),
  );
}

function sorted() {
  const column = COLUMNS.find(({ key }) => key === state.sort.column);
  if (column === undefined) return inOrder;
  const sign = state.sort.descending ? -1 : 1;
  // From the reading order, which ties keep; what has no value comes last, either way.
  return [...inOrder].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return sign * (typeof x === "string" ? x.localeCompare(y) : x - y);
  });
}

/** The table as an element, and the button that brings the reading order back. */
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
    body.replaceChildren(...sorted().map((topic) => rows[topic.position]));
    heads.forEach((head, i) => {
      const own = COLUMNS[i].key === state.sort.column;
      if (own) head.setAttribute("aria-sort", state.sort.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    reading.setAttribute("aria-pressed", String(state.sort.column === "reading"));
  };
  const choose = (column) => {
    const again = state.sort.column === column.key;
    state.sort = { column: column.key, descending: again ? !state.sort.descending : column.descending };
    fill();
    announce(`Sorted by ${column.title}, ${state.sort.descending ? "largest" : "smallest"} first`);
  };
  const reading = el(
    "button",
    {
      type: "button",
      class: "choice",
      title: "Large and specific topics first, vague ones last",
      on: {
        click: () => {
          state.sort = { column: "reading", descending: false };
          fill();
          announce("Topics in reading order");
        },
      },
    },
    "Reading order",
  );
  fill();
  const element = el(
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
  return { element, tools: el("div", { class: "tools" }, reading) };
}
