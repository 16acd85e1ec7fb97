// What is measured of single topics: in the table, in a topic's view and as colours of the map.

import { topics } from "./data.js";

/** Those that this model has: a name, a shorter one for columns, what it says, and whether the largest are the best. */
export const FIGURES = [
  {
    key: "stability",
    title: "Stability",
    column: "Stability",
    hint: "How much of the topic is there again in other draws of the documents: 1 is all of it",
    higher: true,
  },
  {
    key: "specificity",
    title: "Specificity",
    column: "Specificity",
    hint: "Bits by which its words differ from words in general; higher is more of its own",
    higher: true,
  },
  {
    key: "mst_incoherence",
    title: "MST-Incoherence",
    column: "Incoherence",
    hint: "Weight of the tree of its words: how far apart they are from each other; lower is better",
    higher: false,
  },
  {
    key: "npmi_coherence",
    title: "NPMI coherence",
    column: "NPMI",
    hint: "How much more often its top words share documents than by chance; higher is better",
    higher: true,
  },
].filter(({ key }) => topics.some((topic) => typeof topic[key] === "number"));
