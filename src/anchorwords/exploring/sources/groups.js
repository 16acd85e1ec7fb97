// Topics in groups of documents: a table of shares, and what sets one group or one topic apart.

import { colourOf } from "./colour.js";
import { inOrder, topicOf } from "./data.js";
import { announce, card, el, fewerWords, userText } from "./dom.js";
import { percent, whole } from "./format.js";
import { badge, barWithInterval, hideTip, notesOf, showTip, topicLink } from "./parts.js";
import { groupAddress, groups, shareText, topicByGroup } from "./shares.js";
import { state } from "./state.js";

const LEVELS = 8;
const DISTINCTIVE = 10;
/** Letters of a topic's label at the head of its column. */
const LONGEST = 24;

/** Orders of groups, by place. */
const ORDERS = [
  { key: "listed", title: groups?.ordered ? "value" : "name", list: listed },
  { key: "similar", title: "similarity", list: () => groups.similar },
  { key: "size", title: "size", list: () => sorted((a, b) => b.n_documents - a.n_documents) },
];

function sorted(compare) {
  return groups.rows.map((_, place) => place).sort((a, b) => compare(groups.rows[a], groups.rows[b]));
}

function listed() {
  return groups.ordered ? groups.rows.map((_, place) => place) : sorted((a, b) => a.name.localeCompare(b.name));
}

/** Topics so that the groups that have most of them come one after the other: large shares then lie along the diagonal. */
function topicsAlong(order) {
  const home = new Map(
    inOrder.map((topic) => {
      const shares = order.map((place) => groups.rows[place].prevalence[topic.position]);
      return [topic, shares.indexOf(Math.max(...shares))];
    }),
  );
  return [...inOrder].sort((a, b) => home.get(a) - home.get(b));
}

const largest = Math.max(...(groups?.rows ?? []).flatMap((row) => row.prevalence), 1e-6);

/** Steps of colour grow with the square root, so that small shares differ too. */
function levelOf(share) {
  return Math.round(LEVELS * Math.sqrt(Math.min(share / largest, 1)));
}

function cellOf(place, topic) {
  const row = groups.rows[place];
  const share = row.prevalence[topic.position];
  const figure = share >= 0.005 ? String(Math.round(100 * share)) : "";
  return el(
    "td",
    {
      role: "gridcell",
      class: `heat heat-${levelOf(share)}`,
      tabindex: -1,
      "data-group": place,
      "data-topic": topic.topic,
      "aria-label": `${row.name}, topic ${topic.topic}: ${shareText(row, topic)}`,
    },
    figure,
  );
}

function cellTip(place, topic) {
  const row = groups.rows[place];
  return [
    el("div", { class: "tip-head" }, userText(row.name)),
    el("div", {}, badge(topic), " ", userText(topic.label)),
    el("div", {}, shareText(row, topic)),
    el("div", { class: "tip-words" }, `${whole(row.n_documents)} documents`),
  ];
}

/** Move within the table by arrow keys, of whose cells one at a time can be reached by Tab. */
function roving(table, rows) {
  const where = new Map(rows.flatMap((cells, i) => cells.map((cell, j) => [cell, [i, j]])));
  rows[0][1].setAttribute("tabindex", 0);
  table.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const from = where.get(event.target);
    if (from === undefined) return;
    if ((event.key === "Enter" || event.key === " ") && event.target.dataset.group !== undefined) {
      event.preventDefault();
      event.target.click();
      return;
    }
    const next = step && rows[from[0] + step[0]]?.[from[1] + step[1]];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    event.target.setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}

/** A name that may go on in a new line after a dot, a slash or a dash. */
function breakable(name) {
  const parts = name.split(/(?<=[./_-])/);
  return parts.length === 1
    ? userText(name)
    : el("bdi", {}, ...parts.flatMap((part, i) => [i ? el("wbr") : null, part]));
}

/** The table of shares: groups in rows, topics in columns. */
function heatTable(order, choose) {
  const columns = topicsAlong(order);
  const topicHeads = columns.map((topic) =>
    el(
      "button",
      {
        type: "button",
        class: "heat-topic",
        tabindex: -1,
        title: topic.label,
        "data-topic-head": topic.topic,
        "aria-label": `Topic ${topic.topic}: ${topic.label}, by group`,
        on: { click: () => choose({ topic }) },
      },
      badge(topic),
      " ",
      userText(fewerWords(topic.label, LONGEST)),
    ),
  );
  const groupHeads = order.map((place) => {
    const { name, n_documents: n } = groups.rows[place];
    return el(
      "button",
      {
        type: "button",
        class: "heat-group",
        tabindex: -1,
        "data-group-head": place,
        title: `${name}: ${whole(n)} documents`,
        on: { click: () => choose({ group: place }) },
      },
      breakable(name),
    );
  });
  const cells = order.map((place) => columns.map((topic) => cellOf(place, topic)));
  const table = el(
    "table",
    {
      role: "grid",
      class: "heat-table",
      style: { "--n-topics": columns.length },
      "aria-label": "Share of each topic in each group, in percent",
    },
    el(
      "thead",
      { role: "rowgroup" },
      el(
        "tr",
        { role: "row" },
        el("td", { role: "gridcell", class: "corner" }),
        ...topicHeads.map((head) => el("th", { role: "columnheader", scope: "col" }, head)),
      ),
    ),
    el(
      "tbody",
      { role: "rowgroup" },
      ...order.map((_, i) =>
        el("tr", { role: "row" }, el("th", { role: "rowheader", scope: "row" }, groupHeads[i]), ...cells[i]),
      ),
    ),
  );
  const subject = (event) => {
    const cell = event.target.closest?.("td[data-group]");
    return cell ? { place: Number(cell.dataset.group), topic: topicOf(Number(cell.dataset.topic)) } : null;
  };
  table.addEventListener("pointermove", (event) => {
    const found = subject(event);
    if (found && event.pointerType !== "touch")
      showTip(event.clientX, event.clientY, ...cellTip(found.place, found.topic));
    else hideTip();
  });
  table.addEventListener("pointerleave", hideTip);
  table.addEventListener("focusin", (event) => {
    const found = subject(event);
    if (!found || !event.target.matches(":focus-visible")) return;
    const { right, bottom } = event.target.getBoundingClientRect();
    showTip(right, bottom, ...cellTip(found.place, found.topic));
  });
  table.addEventListener("focusout", hideTip);
  table.addEventListener("click", (event) => {
    const found = subject(event);
    if (found) choose({ group: found.place });
  });
  roving(table, [[null, ...topicHeads], ...cells.map((own, i) => [groupHeads[i], ...own])]);
  return table;
}

/** Topics that a group has clearly more of than all groups together, the largest difference first. */
function distinctive(place) {
  const row = groups.rows[place];
  const more = (topic) => row.prevalence[topic.position] - groups.overall[topic.position];
  const found = inOrder
    .filter(({ position: k }) => (row.low[k] ?? 0) > groups.overall[k])
    .sort((a, b) => more(b) - more(a))
    .slice(0, DISTINCTIVE);
  if (found.length === 0) return el("p", {}, "No topic is clearly more frequent here than in all groups together.");
  const most = Math.max(...found.map(({ position: k }) => row.high[k] ?? row.prevalence[k]), 1e-6);
  return el(
    "ol",
    { class: "neighbours" },
    ...found.map((topic) => {
      const k = topic.position;
      return el(
        "li",
        { title: shareText(row, topic) },
        topicLink(topic),
        barWithInterval(
          row.prevalence[k],
          row.low[k],
          row.high[k],
          most,
          groups.overall[k] <= most ? groups.overall[k] : null,
          colourOf(topic),
        ),
        el("span", { class: "figure" }, percent(row.prevalence[k])),
      );
    }),
  );
}

const LINE = () =>
  `The vertical line marks the share in all groups, and thin lines are ${percent(groups.level)} intervals.`;

/** What is chosen: one group's most distinctive topics, or one topic by group. */
function detail({ group = null, topic = null }) {
  if (topic !== null) {
    return [
      el("h2", {}, topicLink(topic)),
      el("p", { class: "note" }, `Mean share in each group, largest first. ${LINE()}`),
      topicByGroup(topic),
    ];
  }
  const row = groups.rows[group];
  return [
    el("h2", {}, userText(row.name)),
    el(
      "p",
      { class: "note" },
      `${whole(row.n_documents)} documents. Topics that are clearly more frequent here than in all groups together, largest difference first. ${LINE()}`,
    ),
    distinctive(group),
  ];
}

function legend() {
  const steps = Array.from({ length: LEVELS + 1 }, (_, i) => el("span", { class: `heat heat-${i}` }));
  return el(
    "span",
    { class: "colour-scale" },
    "0%",
    el("span", { class: "heat-steps", "aria-hidden": "true" }, ...steps),
    percent(largest),
  );
}

/** The view of groups. */
export function groupsView({ group = null, topic = null }) {
  if (groups === null) {
    return [
      el("h1", {}, "Topics by group"),
      el("p", {}, "This page was made without groups. Name the column that holds them with --by, or by in Python."),
    ];
  }
  const room = el("div", { class: "heat-room" });
  const panel = el("section", { class: "card detail", "aria-live": "polite" });
  const orderOf = () => ORDERS.find(({ key }) => key === state.groups.order).list();
  let shown = topic === null ? { group: group ?? orderOf()[0] } : { topic };
  /** Scroll to the panel on narrow screens, where it is below the table. */
  const reveal = () => {
    if (window.matchMedia("(max-width: 1000px)").matches) panel.scrollIntoView({ block: "nearest" });
  };
  /** Mark the group or the topic that the panel is about. */
  const mark = () => {
    for (const head of room.querySelectorAll(".heat-group, .heat-topic")) {
      const own = shown.topic
        ? head.dataset.topicHead === String(shown.topic.topic)
        : head.dataset.groupHead === String(shown.group);
      head.setAttribute("aria-pressed", String(own));
    }
  };
  const choose = (chosen) => {
    shown = chosen;
    mark();
    panel.replaceChildren(...detail(chosen));
    const address = chosen.topic ? `#groups-${chosen.topic.topic}` : groupAddress(chosen.group);
    history.replaceState(null, "", address);
    reveal();
  };
  const fill = () => {
    room.replaceChildren(heatTable(orderOf(), choose));
    mark();
  };
  fill();
  panel.replaceChildren(...detail(shown));
  // An address that names a group or a topic shows it at once.
  if (group !== null || topic !== null) requestAnimationFrame(() => setTimeout(reveal));
  const select = el(
    "select",
    {
      id: "group-order",
      on: {
        change: (event) => {
          state.groups.order = event.target.value;
          fill();
          announce(`Groups by ${event.target.selectedOptions[0].textContent}`);
        },
      },
    },
    ...ORDERS.map(({ key, title }) => el("option", { value: key, selected: key === state.groups.order }, title)),
  );
  const n = groups.rows.length;
  return [
    el("h1", {}, "Topics by ", groups.by === null ? "group" : userText(groups.by)),
    el(
      "div",
      { class: "groups-grid" },
      card(
        `${whole(n)} ${n === 1 ? "group" : "groups"}`,
        {
          class: "heat-card",
          tools: el(
            "div",
            { class: "tools" },
            legend(),
            el("span", { class: "choose" }, el("label", { for: "group-order" }, "order by"), select),
          ),
          note: "Mean share of each topic in the documents of a group, in percent. Click a group or a topic to see what sets it apart.",
        },
        room,
        notesOf(groups),
      ),
      panel,
    ),
  ];
}
