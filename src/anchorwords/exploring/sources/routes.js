// Addresses within the page: what stands after the # says what is shown, so that a view can be bookmarked and sent.

import { placeOfWord, topics, words } from "./data.js";

/** Address of a topic. */
export function topicAddress(topic) {
  return `#topic-${topic.topic}`;
}

/** Address of a word. */
export function wordAddress(place) {
  // A word that looks like another, both having been cut, is called by its place.
  const text = words.text[place];
  return placeOfWord(text) === place ? `#word-${encodeURIComponent(text)}` : `#word--${place}`;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What an address asks for: a view and, for some, its subject; the overview where it asks for nothing that is here. */
export function routeOf(hash) {
  const topic = /^#topic-(\d+)$/.exec(hash);
  if (topic) {
    const found = topics[Number(topic[1])];
    return found ? { view: "topic", topic: found } : { view: "overview", missing: `There is no topic ${topic[1]}.` };
  }
  const numbered = /^#word--(\d+)$/.exec(hash);
  if (numbered && Number(numbered[1]) < words.text.length) return { view: "word", place: Number(numbered[1]) };
  if (hash.startsWith("#word-")) {
    const text = decoded(hash.slice(6));
    const place = placeOfWord(text);
    return place === undefined
      ? { view: "overview", missing: `The word “${text}” is not in this page.` }
      : { view: "word", place };
  }
  const highlighted = /^#space-(\d+)$/.exec(hash);
  if (highlighted) return { view: "space", topic: topics[Number(highlighted[1])] ?? null };
  if (hash === "#space") return { view: "space", topic: null };
  if (hash === "#model") return { view: "model" };
  return { view: "overview" };
}

/** Go to an address. */
export function go(address) {
  window.location.hash = address;
}
