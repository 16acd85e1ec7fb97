// The page: the address says which view is shown.

import { between, page, topics, words } from "./data.js";
import { el } from "./dom.js";
import { editsBar } from "./edits.js";
import { whole } from "./format.js";
import { groupsView } from "./groups.js";
import { header } from "./header.js";
import { hierarchyView } from "./hierarchy.js";
import { modelView } from "./model.js";
import { overview } from "./overview.js";
import { hideTip } from "./parts.js";
import { go, routeOf, topicAddress } from "./routes.js";
import { spaceView } from "./space.js";
import { state } from "./state.js";
import { timeView } from "./time.js";
import { beside, topicView } from "./topic.js";
import { wordView } from "./word.js";

const VIEWS = {
  overview,
  topic: topicView,
  word: wordView,
  time: timeView,
  groups: groupsView,
  hierarchy: hierarchyView,
  space: spaceView,
  model: modelView,
};
/** Keys that open a view, those of views that this page has. */
const KEY_OF = { o: "overview", t: "time", g: "groups", h: "hierarchy", s: "space", m: "model" };
const KEYS = [
  ["/", "search"],
  ["← →", "previous and next topic"],
  [
    Object.keys(KEY_OF).filter(available).join(", "),
    Object.entries(KEY_OF)
      .filter(([key]) => available(key))
      .map(([, view]) => view)
      .join(", "),
  ],
  ["Esc", "back to the overview"],
];

function available(key) {
  return KEY_OF[key] === "space" || page[KEY_OF[key]] !== null;
}

let route = { view: "overview" };

function titleOf({ view, topic, place }) {
  if (view === "topic") return `Topic ${topic.topic}: ${topic.label}`;
  if (view === "word") return words.text[place];
  return view === "overview" ? "" : `${view[0].toUpperCase()}${view.slice(1)}`;
}

const mark = header();

/** Fill the page with the view of its address. */
function fill(main) {
  main.dataset.view = route.view;
  main.replaceChildren(...VIEWS[route.view](route).filter((part) => part !== null));
  mark(route.view);
  const title = titleOf(route);
  document.title = title ? `${title} – ${page.title}` : page.title;
}

/** Draw the view again where it is, with labels that have changed. */
function again() {
  const { scrollX, scrollY } = window;
  fill(document.getElementById("main"));
  window.scrollTo(scrollX, scrollY);
}

function show(first) {
  const skipped = window.location.hash === "#main"; // by the link that skips the head
  if (skipped && !first) return;
  hideTip();
  route = routeOf(skipped ? "" : window.location.hash);
  const main = document.getElementById("main");
  fill(main);
  if (first) return;
  // So that the keyboard and readers of screens go on from the new view.
  const heading = main.querySelector("h1");
  heading.setAttribute("tabindex", "-1");
  heading.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest?.("input, select, textarea");
  if (event.key === "Escape") {
    go("#overview");
    return;
  }
  if (typing || !state.keys) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("search").focus();
  } else if (route.view === "topic" && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
    event.preventDefault();
    go(topicAddress(beside(route.topic, event.key === "ArrowLeft" ? -1 : 1)));
  } else {
    if (KEY_OF[event.key] !== undefined && available(event.key)) go(`#${KEY_OF[event.key]}`);
  }
}

/** Single keys can be switched off: who speaks to the computer may press them by saying a word. */
function keySwitch() {
  const change = (event) => {
    state.keys = event.target.checked;
  };
  return el("label", {}, el("input", { type: "checkbox", checked: state.keys, on: { change } }), " keys on");
}

document
  .getElementById("footer")
  .append(
    el(
      "p",
      {},
      `Written by ${page.written_by}. This file holds ${whole(topics.length)} topics and ${whole(words.text.length)} of ${whole(page.n_words)} words, and makes no network requests.`,
    ),
    el(
      "p",
      { class: "keys-help" },
      "Keys: ",
      ...KEYS.flatMap(([key, meaning], i) => [i ? " · " : null, el("kbd", {}, key), ` ${meaning}`]),
      " · ",
      keySwitch(),
    ),
  );
document.documentElement.classList.toggle("long-names", between !== " ");
window.addEventListener("hashchange", () => show(false));
window.addEventListener("labelchange", again);
window.addEventListener("keydown", onKey);
editsBar();
show(true);
