// A topic in groups of documents: its share in each, largest first.

import { colourOf } from "./colour.js";
import { page } from "./data.js";
import { card, el, userText } from "./dom.js";
import { percent, whole } from "./format.js";
import { barWithInterval } from "./parts.js";

export const groups = page.groups;
const SHORT = 12;

/** Address of a group. */
export function groupAddress(place) {
  return `#group-${place}`;
}

/** "12% (10% to 14%), 3% in all groups" of a topic in a group. */
export function shareText(row, topic) {
  const k = topic.position;
  const interval = row.low[k] === null ? "" : ` (${percent(row.low[k])} to ${percent(row.high[k])})`;
  return `${percent(row.prevalence[k])}${interval}, ${percent(groups.overall[k])} in all groups`;
}

/** Bars of the groups with the largest share of a topic; the vertical line is its share in all groups. */
export function topicByGroup(topic, n = groups.rows.length) {
  const k = topic.position;
  const order = groups.rows
    .map((row, place) => ({ row, place }))
    .sort((a, b) => b.row.prevalence[k] - a.row.prevalence[k])
    .slice(0, n);
  const most = Math.max(...order.map(({ row }) => row.high[k] ?? row.prevalence[k]), 1e-6);
  return el(
    "ol",
    { class: "neighbours" },
    ...order.map(({ row, place }) =>
      el(
        "li",
        { title: `${shareText(row, topic)}; ${whole(row.n_documents)} documents` },
        el("a", { class: "topic-link", href: groupAddress(place) }, userText(row.name)),
        barWithInterval(
          row.prevalence[k],
          row.low[k],
          row.high[k],
          most,
          groups.overall[k] / most <= 1 ? groups.overall[k] : null,
          colourOf(topic),
        ),
        el("span", { class: "figure" }, percent(row.prevalence[k])),
      ),
    ),
  );
}

/** The card of a topic; none in a page without groups. */
export function groupsCard(topic) {
  if (groups === null) return null;
  const cut = groups.rows.length > SHORT;
  return card(
    "By group",
    {
      class: "topic-groups",
      note: `Mean share in the documents of ${cut ? `the ${SHORT} groups with the largest share` : "each group"}; the vertical line marks the share in all groups, and thin lines are ${percent(groups.level)} intervals.`,
    },
    topicByGroup(topic, SHORT),
    el("p", { class: "note" }, el("a", { href: `#groups-${topic.topic}` }, "All groups and topics")),
  );
}
