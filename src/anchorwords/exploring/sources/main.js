// The page: the address says which view is shown.

import { between, page, topics, words } from "./data.js";
import { el } from "./dom.js";
import { whole } from "./format.js";
import { header } from "./header.js";
import { modelView } from "./model.js";
import { overview } from "./overview.js";
import { hideTip } from "./parts.js";
import { go, routeOf, topicAddress } from "./routes.js";
import { spaceView } from "./space.js";
import { state } from "./state.js";
import { beside, topicView } from "./topic.js";
import { wordView } from "./word.js";

const VIEWS = { overview, topic: topicView, word: wordView, space: spaceView, model: modelView };
const KEYS = [
  ["/", "search"],
  ["← →", "previous and next topic"],
  ["o, s, m", "overview, space, model"],
  ["Esc", "back to the overview"],
];
let route = { view: "overview" };

function titleOf({ view, topic, place }) {
  if (view === "topic") return `Topic ${topic.topic}: ${topic.label}`;
  if (view === "word") return words.text[place];
  return { overview: "", space: "Space", model: "Model" }[view];
}

const mark = header();

function show(first) {
  const skipped = window.location.hash === "#main"; // by the link that skips the head
  if (skipped && !first) return;
  hideTip();
  route = routeOf(skipped ? "" : window.location.hash);
  const main = document.getElementById("main");
  main.dataset.view = route.view;
  main.replaceChildren(...VIEWS[route.view](route).filter((part) => part !== null));
  mark(route.view);
  const title = titleOf(route);
  document.title = title ? `${title} – ${page.title}` : page.title;
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
    const view = { o: "#overview", s: "#space", m: "#model" }[event.key];
    if (view) go(view);
  }
}

/** Single keys can be switched off: who speaks to the computer may press them by saying a word. */
function keySwitch() {
  const change = (event) => {
    state.keys = event.target.checked;
  };
  return el("label", {}, el("input", { type: "checkbox", checked: state.keys, on: { change } }), " on");
}

document
  .getElementById("footer")
  .append(
    el(
      "p",
      {},
      `Written by ${page.written_by}. This file holds ${whole(topics.length)} topics and ${whole(words.text.length)} of ${whole(page.n_words)} words, and asks no address for anything.`,
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
window.addEventListener("keydown", onKey);
show(true);
