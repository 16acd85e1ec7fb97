// The data of the page, and what is looked up in it.

export const page = JSON.parse(document.getElementById("data").textContent);
export const topics = page.topics;
export const words = page.words;
export const space = page.space;
export const edges = page.map.edges;

/** What stands between words in a line: names of songs and films have spaces of their own. */
export const between = words.text.some((text) => text.trim().includes(" ")) ? " · " : " ";

// Topics are called by their ids, which edits of the model leave gaps in; their position is for lists inside this page.
topics.forEach((topic, position) => {
  topic.position = position;
});
const byId = new Map(topics.map((topic) => [topic.topic, topic]));

/** The topic of an id, or undefined. */
export function topicOf(id) {
  return byId.get(id);
}

/** Topics, most prevalent first. */
export const byRank = [...topics].sort((a, b) => a.rank - b.rank);

/** Topics in reading order: large and specific ones first, vague ones last. */
export const inOrder = [...topics].sort((a, b) => a.reading - b.reading);

const places = new Map();
words.text.forEach((text, place) => {
  if (!places.has(text)) places.set(text, place);
});

/** Place of a word in the lists, or undefined. */
export function placeOfWord(text) {
  return places.get(text);
}

const lowered = words.text.map((text) => text.toLowerCase());

/** Places of the words that begin with a text, then of those that hold it; the most frequent first. */
export function wordsLike(text, most) {
  const wanted = text.toLowerCase();
  const begins = [];
  const holds = [];
  lowered.forEach((word, place) => {
    const at = word.indexOf(wanted);
    if (at === 0) begins.push(place);
    else if (at > 0) holds.push(place);
  });
  const frequent = (a, b) =>
    Number(lowered[b] === wanted) - Number(lowered[a] === wanted) || words.probability[b] - words.probability[a];
  return [...begins.sort(frequent), ...holds.sort(frequent)].slice(0, most);
}

/** Topics of an id, or whose label holds a text. */
export function topicsLike(text, most) {
  const wanted = text.toLowerCase().replace(/^(topic\s*|#)/, "");
  if (wanted === "") return [];
  const called = topics.filter((topic) => String(topic.topic) === wanted);
  const labelled = inOrder.filter((topic) => !called.includes(topic) && topic.label.toLowerCase().includes(wanted));
  return [...called, ...labelled].slice(0, most);
}

/** Pairs of a list that holds place, value, place, value. */
export function pairs(alternating) {
  const found = [];
  for (let i = 0; i < alternating.length; i += 2) found.push([alternating[i], alternating[i + 1]]);
  return found;
}

/** Share of each topic in a word, the largest first: [topic, share]. */
export function topicsOfWord(place) {
  return pairs(words.topics[place]);
}

/** The topic that has most of a word; null where none has. */
export function mainTopic(place) {
  const own = words.topics[place];
  return own.length ? topicOf(own[0]) : null;
}

/** Words of a topic by relevance: weight * log B + (1 - weight) * log(B / p), the best first. */
function relevant(topic, weight, most = page.relevant) {
  const scored = topic.words.map((word, i) => {
    const probability = topic.probabilities[i];
    // A topic of no prevalence may have words that no other has: any positive number puts them in order.
    const score = Math.log(probability) - (1 - weight) * Math.log(Math.max(words.probability[word], Number.MIN_VALUE));
    // Words of this topic alone are ties but for the last digits of the data: these stay in the order of words.
    return { word, probability, score: Math.round(score * 2e4) };
  });
  return scored.sort((a, b) => b.score - a.score).slice(0, most);
}

/** The keywords of a topic, the best first. */
function keywords(topic, most = page.relevant) {
  return topic.keywords
    .slice(0, most)
    .map((word) => ({ word, probability: topic.probabilities[topic.words.indexOf(word)] }));
}

/** Words of a topic in the order that the reader has chosen: keywords, or relevance at a weight. */
export function listed(topic, { order, weight }, most) {
  return order === "keywords" ? keywords(topic, most) : relevant(topic, weight, most);
}

/** Words on a topic's own list that the prominent ones lack: what only the anchor's company adds. */
export function added(topic) {
  const prominent = new Set(topic.prominent);
  return new Set(topic.characteristic.filter((word) => !prominent.has(word)));
}

/** How frequent a word is among those in the page, 1 being the most. */
export function rankOfWord(place) {
  const own = words.probability[place];
  return 1 + words.probability.reduce((sum, other) => sum + (other > own ? 1 : 0), 0);
}

/** Topics that have a word as an anchor. */
export function anchoredBy(place) {
  return topics.filter((topic) => topic.anchors.includes(place));
}
