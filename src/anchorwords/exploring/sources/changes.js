// A topic over time, on its own page: its curve, the words that rise and fall with it, and its words in each period.

import { colourOf } from "./colour.js";
import { pairs } from "./data.js";
import { card, el } from "./dom.js";
import { percent, times, whole } from "./format.js";
import { bar, wordLink } from "./parts.js";
import { arrowOf, roomyCurve, seriesOf, time, verdictOf } from "./trend.js";

/** Words and how many times as probable they became; those that fall by the inverse. */
function changes(title, alternating, rising) {
  const found = pairs(alternating).map(([word, ratio]) => [word, rising ? ratio : 1 / Math.max(ratio, 1e-9)]);
  const most = Math.max(...found.map(([, ratio]) => Math.log2(ratio)), 1e-9);
  const rows = found.map(([word, ratio]) =>
    el(
      "li",
      { title: `${times(ratio)} as ${rising ? "probable" : "improbable"} in the topic as before` },
      wordLink(word),
      bar(Math.log2(ratio) / most),
      el("span", { class: "figure" }, `${rising ? "×" : "÷"}${times(ratio).replace("×", "")}`),
    ),
  );
  return el(
    "div",
    {},
    el("h3", {}, title),
    rows.length ? el("ol", { class: "word-bars" }, ...rows) : el("p", { class: "note" }, "No word does so clearly."),
  );
}

/** Words of the topic in some periods; those that the row before does not list are marked. */
function wordsByPeriod(series) {
  const rows = series.words.map((words, i) => {
    const before = i === 0 ? null : new Set(series.words[i - 1]);
    const cell = words.flatMap((word, j) => [
      j ? " " : null,
      wordLink(word, { class: before !== null && !before.has(word) ? "fresh" : "", longest: 30 }),
    ]);
    return el("tr", {}, el("th", { scope: "row" }, time.periods[time.word_periods[i]]), el("td", {}, ...cell));
  });
  return el(
    "div",
    { class: "period-words" },
    el("h3", {}, "Words of each period"),
    el(
      "p",
      { class: "note" },
      time.word_periods.length < time.periods.length
        ? `${whole(time.word_periods.length)} of ${whole(time.periods.length)} periods. `
        : "",
      el("span", { class: "fresh" }, "Marked"),
      " words are not in the row above.",
    ),
    el(
      "table",
      {},
      el(
        "thead",
        { class: "unseen" },
        el("tr", {}, el("th", { scope: "col" }, "Period"), el("th", { scope: "col" }, "Words")),
      ),
      el("tbody", {}, ...rows),
    ),
  );
}

function values(series) {
  const rows = time.periods.map((period, t) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, period),
      el("td", {}, percent(series.prevalence[t])),
      el("td", {}, series.low[t] === null ? "–" : `${percent(series.low[t])} to ${percent(series.high[t])}`),
      el("td", {}, whole(time.n_documents[t])),
    ),
  );
  const heads = ["Period", "Share", `${percent(time.level)} interval`, "Documents"];
  return el(
    "details",
    {},
    el("summary", {}, "values as a table"),
    el(
      "div",
      { class: "table-room", tabindex: 0, role: "region", "aria-label": "Shares by period" },
      el(
        "table",
        { class: "values" },
        el("thead", {}, el("tr", {}, ...heads.map((title) => el("th", { scope: "col" }, title)))),
        el("tbody", {}, ...rows),
      ),
    ),
  );
}

/** The card of a topic; none in a page without times. */
export function timeCard(topic) {
  if (time === null) return null;
  const series = seriesOf(topic);
  const verdict = verdictOf(series);
  return card(
    "Over time",
    { class: "topic-time" },
    el("p", { class: "verdict" }, arrowOf(series), " ", verdict),
    el(
      "div",
      { class: "time-grid" },
      el(
        "div",
        {},
        roomyCurve(series, {
          colour: colourOf(topic),
          label: `Share of the topic by period; ${verdict}`,
        }),
        values(series),
        el("h3", { class: "changes-head" }, "Words that change within the topic"),
        el(
          "p",
          { class: "note" },
          "How many times as probable words became from the first third of the periods to the last third, the most certain change first.",
        ),
        el("div", { class: "two" }, changes("Rising", series.rising, true), changes("Falling", series.falling, false)),
      ),
      wordsByPeriod(series),
    ),
  );
}
