// Labels that readers give to topics: kept in this page and, where it may, in the browser; exported as a file.

import { page, topicOf, topics } from "./data.js";

/** Labels of one model are not those of another, which may be open from the same disk. */
const KEY = `anchorwords-labels-${page.fingerprint}`;
const LONGEST = 80;
/** The file that `anchorwords edit --labels` reads. */
export const FILE_NAME = "topic-labels.json";

const original = new Map(topics.map((topic) => [topic, topic.label]));
/** What was typed, by topic; an empty text asks for the automatic name. */
const edited = new Map();
let kept = true;

/** A label in one line, without what cannot be seen; joiners are part of words in many scripts. */
export function cleaned(text) {
  const seen = text.replace(/\s+/gu, " ").replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu, "");
  return Array.from(seen).slice(0, LONGEST).join("").trim();
}

function set(topic, text) {
  const label = cleaned(text);
  topic.label = label || topic.automatic;
  if (topic.label === original.get(topic)) edited.delete(topic);
  else edited.set(topic, label);
}

function exported() {
  return Object.fromEntries([...edited].map(([topic, label]) => [topic.topic, label]));
}

/** Take over what the browser has kept: only texts, and only of topics that this page has. */
function load() {
  for (const topic of topics) set(topic, original.get(topic));
  try {
    const found = JSON.parse(window.localStorage.getItem(KEY) ?? "{}");
    const listed = typeof found === "object" && found !== null && !Array.isArray(found) ? found : {};
    for (const [id, label] of Object.entries(listed)) {
      const topic = topicOf(Number(id));
      if (topic !== undefined && typeof label === "string") set(topic, label);
    }
  } catch (error) {
    // A page opened from disk or in a frame may have no storage; what is no JSON is nothing of ours.
    kept = error instanceof SyntaxError;
  }
}

function keep() {
  try {
    if (edited.size) window.localStorage.setItem(KEY, JSON.stringify(exported()));
    else window.localStorage.removeItem(KEY);
    kept = true;
  } catch {
    kept = false;
  }
}

function changed() {
  window.dispatchEvent(new Event("labelchange"));
}

/** Give a topic a label; an empty one brings its automatic name back. */
export function rename(topic, text) {
  set(topic, text);
  keep();
  changed();
}

/** Bring back the label that the model has: of one topic, or of all. */
export function reset(chosen = topics) {
  for (const topic of chosen) set(topic, original.get(topic));
  keep();
  changed();
}

/** Whether a topic has a label of this page. */
export function isEdited(topic) {
  return edited.has(topic);
}

/** How many topics have. */
export function editedCount() {
  return edited.size;
}

/** Whether labels outlive the page. */
export function areKept() {
  return kept;
}

/** The labels as the file that `anchorwords edit --labels` reads. */
export function labelsFile() {
  const content = { format: "anchorwords-topic-labels", format_version: 1, labels: exported() };
  return `${JSON.stringify(content, null, 1)}\n`;
}

load();
// The same page in another tab.
window.addEventListener("storage", (event) => {
  if (event.key !== KEY && event.key !== null) return;
  load();
  changed();
});
