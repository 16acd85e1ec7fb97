// What readers have set, kept while they go from view to view.

import { page } from "./data.js";

export const state = {
  /** Place of the relevance slider: 1 is probability, 0 is lift. */
  weight: page.weight,
  /** Column that the table of topics is sorted by, and which way. */
  sort: { column: "prevalence", descending: true },
  /** Whether single keys do anything. */
  keys: true,
  /** What circles on the map are coloured by. */
  colourBy: "topic",
};
