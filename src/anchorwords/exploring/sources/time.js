// Topics over time: a small picture for each, in the order of what changes.

import { colourOf } from "./colour.js";
import { byRank, inOrder, topics } from "./data.js";
import { announce, card, el } from "./dom.js";
import { percent, whole } from "./format.js";
import { notesOf, topicLink } from "./parts.js";
import { state } from "./state.js";
import { arrowOf, curve, highest, seriesOf, time, verdictOf } from "./trend.js";

const ORDERS = [
  { key: "change", title: "change", list: () => byChange() },
  { key: "prevalence", title: "prevalence", list: () => byRank },
  { key: "reading", title: "reading order", list: () => inOrder },
];

/** From the largest rise to the largest fall. */
function byChange() {
  const change = (topic) => seriesOf(topic).change ?? 0;
  return [...inOrder].sort((a, b) => change(b) - change(a));
}

function sentences() {
  const found = { rising: [], falling: [], "no clear trend": [] };
  for (const topic of byChange()) found[seriesOf(topic).verdict].push(topic);
  const { rising, falling } = found;
  const unclear = found["no clear trend"];
  const [first, last] = [time.periods[0], time.periods[time.periods.length - 1]];
  const count = ({ length: n }, one, several) => (n === 1 ? `1 ${one}` : `${whole(n)} ${several}`);
  const verdicts = [
    count(rising, "topic rises", "topics rise"),
    count(falling, "falls", "fall"),
    ...(unclear.length ? [count(unclear, "has no clear trend", "have no clear trend")] : []),
  ];
  const n = whole(time.n_documents.reduce((sum, own) => sum + own, 0));
  const when = first === last ? first : `${count(time.periods, "period", "periods")}, from ${first} to ${last}`;
  const largest = (text, topic) =>
    el("p", {}, text, topicLink(topic), `: ${verdictOf(seriesOf(topic)).replace(/^\w+, /, "")}.`);
  return [
    el("p", { class: "lede" }, `${n} documents in ${when}: ${verdicts.join(", ")}.`),
    rising.length ? largest("The largest rise is that of ", rising[0]) : null,
    falling.length ? largest("The largest fall is that of ", falling[falling.length - 1]) : null,
  ];
}

/** A verdict whose figures stay on one line. */
function unbroken(verdict) {
  const [word, figures] = verdict.split(/, (.*)/);
  return figures === undefined ? [word] : [`${word}, `, el("span", { class: "nowrap" }, figures)];
}

function tile(topic, most) {
  const series = seriesOf(topic);
  const verdict = verdictOf(series);
  return el(
    "li",
    { class: "tile", "data-topic": topic.topic },
    el("h3", {}, topicLink(topic)),
    curve(series, {
      colour: colourOf(topic),
      ...(most === null ? {} : { most }),
      label: `Share of topic ${topic.topic} by period: ${percent(series.prevalence[0])} in ${time.periods[0]}, ${percent(series.prevalence[series.prevalence.length - 1])} in ${time.periods[time.periods.length - 1]}; ${verdict}`,
    }),
    el("p", { class: "verdict" }, arrowOf(series), " ", ...unbroken(verdict)),
  );
}

/** The view of topics over time. */
export function timeView() {
  if (time === null) {
    return [
      el("h1", {}, "Topics over time"),
      el("p", {}, "This page was made without times. Name the column that holds them with --time, or time in Python."),
    ];
  }
  const list = el("ol", { class: "tiles" });
  const fill = () => {
    const order = ORDERS.find(({ key }) => key === state.time.order).list();
    const most = state.time.sameScale ? Math.max(...topics.map((topic) => highest(seriesOf(topic)))) : null;
    list.replaceChildren(...order.map((topic) => tile(topic, most)));
  };
  const choose = el(
    "select",
    {
      id: "time-order",
      on: {
        change: (event) => {
          state.time.order = event.target.value;
          fill();
          announce(`Sorted by ${event.target.selectedOptions[0].textContent}`);
        },
      },
    },
    ...ORDERS.map(({ key, title }) => el("option", { value: key, selected: key === state.time.order }, title)),
  );
  const scale = el("input", {
    type: "checkbox",
    id: "same-scale",
    checked: state.time.sameScale,
    on: {
      change: (event) => {
        state.time.sameScale = event.target.checked;
        fill();
      },
    },
  });
  fill();
  // Why a topic whose interval excludes zero may have no clear trend.
  const several =
    topics.length > 1
      ? ` Because ${whole(topics.length)} topics are tested at once, an interval that excludes zero is not always enough to call a topic rising or falling.`
      : "";
  return [
    el("h1", {}, "Topics over time"),
    ...sentences(),
    card(
      "Share of each topic",
      {
        class: "time-card",
        tools: el(
          "div",
          { class: "tools" },
          el("span", { class: "choose" }, el("label", { for: "time-order" }, "order by"), choose),
          el("label", { class: "check" }, scale, " same scale for all"),
        ),
        note: `Mean share of the topic in the documents of each period; the band is its ${percent(time.level)} interval. The trend is the change of a straight line from the first to the last document, in percentage points, with its interval.${several}`,
      },
      list,
      notesOf(time),
    ),
  ];
}
