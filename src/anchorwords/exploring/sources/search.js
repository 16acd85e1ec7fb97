// The search field: words and topics as they are typed, chosen by pointer or keyboard.

import { mainTopic, page, topicsLike, words, wordsLike } from "./data.js";
import { announce, el, userText } from "./dom.js";
import { whole } from "./format.js";
import { badge } from "./parts.js";
import { go, topicAddress, wordAddress } from "./routes.js";

const MOST = 10;

function matches(text) {
  const found = topicsLike(text, 4).map((topic) => ({
    address: topicAddress(topic),
    content: [el("span", { class: "found-topic" }, badge(topic), " ", userText(topic.label))],
  }));
  for (const place of wordsLike(text, MOST)) {
    const topic = mainTopic(place);
    found.push({
      address: wordAddress(place),
      exact: words.text[place].toLowerCase() === text.toLowerCase(),
      content: [
        userText(words.text[place], { class: "match" }),
        topic ? el("span", { class: "match-topic" }, badge(topic), " ", userText(topic.label)) : null,
      ],
    });
  }
  // The word itself before topics whose label happens to hold it, but a number is a topic's.
  const exact = found.findIndex((entry) => entry.exact);
  if (exact > 0 && !/^(topic\s*|#)?\d+$/i.test(text)) found.unshift(...found.splice(exact, 1));
  return found;
}

/** The field with its list, as the combo box of the ARIA practices. */
export function searchField() {
  const list = el("ul", { role: "listbox", id: "found", hidden: true, "aria-label": "Words and topics found" });
  let found = [];
  let active = -1;

  const input = el("input", {
    id: "search",
    type: "search",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Search words and topics ( / )",
    "aria-label": "Search words and topics",
    "aria-expanded": "false",
    "aria-controls": "found",
    "aria-autocomplete": "list",
  });
  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (number) => {
    const entry = found[number];
    if (entry === undefined) return;
    close();
    input.value = "";
    input.blur();
    go(entry.address);
  };
  const mark = (number) => {
    active = number;
    [...list.children].forEach((item, i) => {
      if (item.getAttribute("role") !== "option") return;
      item.setAttribute("aria-selected", String(i === active));
      if (i === active) item.scrollIntoView({ block: "nearest" });
    });
    if (active >= 0) input.setAttribute("aria-activedescendant", `found-${active}`);
    else input.removeAttribute("aria-activedescendant");
  };
  const fill = () => {
    const text = input.value.trim();
    if (text === "") {
      close();
      return;
    }
    found = matches(text);
    list.replaceChildren(
      ...found.map(({ content }, i) =>
        el(
          "li",
          {
            role: "option",
            id: `found-${i}`,
            "aria-selected": "false",
            on: {
              // Before the field loses the focus, which closes the list.
              pointerdown: (event) => {
                event.preventDefault();
                choose(i);
              },
              click: (event) => event.preventDefault(),
            },
          },
          ...content,
        ),
      ),
    );
    if (found.length === 0) {
      const among =
        words.text.length < page.n_words
          ? `the ${whole(words.text.length)} of ${whole(page.n_words)} words in this page`
          : "the words of this model";
      list.append(el("li", { class: "none" }, `Nothing like that among ${among}.`));
    }
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark(found.length ? 0 : -1);
    announce(`${found.length} found`);
  };
  input.addEventListener("input", fill);
  input.addEventListener("focus", fill);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (found.length) mark((active + step + found.length) % found.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      choose(Math.max(active, 0));
    } else if (event.key === "Escape") {
      event.stopPropagation();
      input.value = "";
      close();
      input.blur();
    }
  });
  return el("div", { class: "search", role: "search" }, input, list);
}
