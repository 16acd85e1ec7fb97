// What readers have set, kept while they go from view to view.

import { page } from "./data.js";

export const state = {
  /** What words are listed by: "keywords", if the model has them, or "relevance". */
  order: page.ranking === "keywords" ? "keywords" : "relevance",
  /** Place of the relevance slider: 1 is probability, 0 is lift. */
  weight: page.weight,
  /** Column that the table of topics is sorted by, and which way; "reading" is the reading order. */
  sort: { column: "reading", descending: false },
  /** Whether single keys do anything. */
  keys: true,
  /** What circles on the map are coloured by. */
  colourBy: "topic",
  /** How curves over time are ordered, and whether all have the same scale. */
  time: { order: "change", sameScale: false },
  /** How groups are ordered. */
  groups: { order: page.groups?.ordered ? "listed" : "similar" },
  /** Number of clusters that the tree of topics is cut into; null before it was shown. */
  cut: null,
};
