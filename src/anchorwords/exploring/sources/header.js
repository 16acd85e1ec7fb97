// The head of the page: where one is, search, light or dark.

import { page } from "./data.js";
import { el, userText } from "./dom.js";
import { searchField } from "./search.js";

const KEY = "anchorwords-theme";
const VIEWS = [
  ["overview", "Overview"],
  ...(page.time === null ? [] : [["time", "Time"]]),
  ...(page.groups === null ? [] : [["groups", "Groups"]]),
  ...(page.hierarchy === null || page.n_topics < 2 ? [] : [["hierarchy", "Hierarchy"]]),
  ["space", "Space"],
  ["model", "Model"],
];

function remembered() {
  try {
    return window.localStorage.getItem(KEY);
  } catch {
    return null; // a page opened from disk may have no storage
  }
}

function remember(theme) {
  try {
    window.localStorage.setItem(KEY, theme);
  } catch {
    // it is then chosen anew next time
  }
}

/** The button; colours are those of the system until it is pressed. */
function themeButton() {
  const button = el("button", { type: "button", class: "theme" });
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = remembered();
  const apply = () => {
    const dark = chosen === "dark" || (chosen !== "light" && system.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    const title = dark ? "Light colours" : "Dark colours";
    button.textContent = dark ? "☀" : "☾";
    button.setAttribute("aria-label", title);
    button.setAttribute("title", title);
    window.dispatchEvent(new Event("themechange"));
  };
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    remember(chosen);
    apply();
  });
  system.addEventListener("change", apply);
  apply();
  return button;
}

/** Fill the head; returns a function that marks the view one is in. */
export function header() {
  const links = VIEWS.map(([view, title]) => el("a", { href: `#${view}`, "data-view": view }, title));
  document
    .getElementById("header")
    .append(
      el("a", { class: "brand", href: "#overview", title: "Overview" }, userText(page.title)),
      el("nav", { "aria-label": "Views" }, ...links),
      searchField(),
      themeButton(),
    );
  return (view) => {
    for (const link of links) {
      if (link.dataset.view === view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };
}
