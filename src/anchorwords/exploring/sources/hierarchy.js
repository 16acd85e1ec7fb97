// The tree of topics: which ones are similar, and what a model with fewer topics would be.

import { page, topics } from "./data.js";
import { clustersOf, dendrogram, keptBy } from "./dendrogram.js";
import { card, el } from "./dom.js";
import { percent, whole } from "./format.js";
import { topicLink } from "./parts.js";
import { state } from "./state.js";

/** A first cut: the fewest topics that keep this share of the information. */
const KEPT = 0.8;

function firstCut() {
  let n = topics.length;
  while (n > 2 && keptBy(n - 1) >= KEPT) n -= 1;
  return n;
}

function clusterItems(n) {
  const share = (cluster) => cluster.reduce((sum, topic) => sum + topic.prevalence, 0);
  const found = clustersOf(n).sort((a, b) => share(b) - share(a));
  const joined = found.filter((cluster) => cluster.length > 1);
  const single = found.filter((cluster) => cluster.length === 1).map(([topic]) => topic);
  const list = (members) => el("ul", { class: "members" }, ...members.map((topic) => el("li", {}, topicLink(topic))));
  return [
    ...joined.map((cluster) =>
      el(
        "li",
        { class: "cluster", "data-cluster": cluster.map((topic) => topic.topic).join(",") },
        el("p", { class: "cluster-head" }, `${whole(cluster.length)} topics, ${percent(share(cluster))} of all words`),
        list(cluster),
      ),
    ),
    single.length
      ? el(
          "li",
          { class: "cluster", "data-single": single.map((topic) => topic.topic).join(",") },
          el(
            "p",
            { class: "cluster-head" },
            single.length === 1 ? "1 topic, not merged" : `${whole(single.length)} topics, not merged`,
          ),
          list(single),
        )
      : null,
  ].filter((item) => item !== null);
}

/** The view of the tree. */
export function hierarchyView() {
  const title = el("h1", {}, "Hierarchy of topics");
  if (topics.length < 2) return [title, el("p", {}, "This model has one topic, so that there is nothing to merge.")];
  if (page.hierarchy === null) {
    return [
      title,
      el(
        "p",
        {},
        "This model is so large that its tree takes minutes, and the page was made without it: topic_hierarchy computes it in Python.",
      ),
    ];
  }
  state.cut ??= firstCut();
  const tree = dendrogram();
  const list = el("ul", { class: "clusters" });
  const output = el("output", { for: "cut", class: "weight-value" });
  const command = el("code", { class: "command" });
  const slider = el("input", {
    type: "range",
    id: "cut",
    min: 1,
    max: topics.length,
    step: 1,
    value: state.cut,
    on: {
      input: (event) => {
        state.cut = Number(event.target.value);
        fill();
      },
    },
  });
  const fill = () => {
    const n = state.cut;
    const kept = `${whole(n)} of ${whole(topics.length)} topics keep ${percent(keptBy(n))} of the information`;
    output.textContent = kept;
    slider.setAttribute("aria-valuetext", kept);
    command.textContent = `anchorwords edit MODEL --reduce ${n} -o NEW`;
    list.replaceChildren(...clusterItems(n));
    tree.cut(n);
  };
  fill();
  return [
    title,
    el(
      "p",
      {},
      "Topics with similar words that occur in the same documents are merged first. Each merger loses some information: knowing the topic of a word then tells less about the word and about the other words of its document.",
    ),
    el(
      "div",
      { class: "hierarchy-grid" },
      card(
        "What merging loses",
        {
          class: "dendrogram-card",
          note: "The further right two topics are joined, the more information their merger loses. The dashed line is the cut; drag the slider to move it.",
        },
        tree.element,
      ),
      card(
        "Fewer topics",
        { class: "clusters-card" },
        el("div", { class: "slider" }, el("label", { for: "cut" }, "Cut into"), slider),
        el("p", {}, output),
        el("p", { class: "note" }, "To make this model, run ", command),
        list,
      ),
    ),
  ];
}
