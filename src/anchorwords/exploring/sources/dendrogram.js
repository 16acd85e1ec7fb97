// The tree of topics as a picture: topics at the left, joined further to the right the more their merger would lose.

import { colourOf } from "./colour.js";
import { page, topicOf } from "./data.js";
import { el, shortened, svg, textWidth } from "./dom.js";
import { axisPercent, percent } from "./format.js";
import { ticks } from "./lines.js";
import { hideTip, showTip } from "./parts.js";
import { topicAddress } from "./routes.js";

const FONT = '13px system-ui, "Segoe UI", Roboto, sans-serif';
const ROW = 25;
const AXIS = 34;
const RIGHT = 20;

const { merges, order } = page.hierarchy ?? { merges: [], order: [] };

/** Nodes of the tree: topics by id, merge m by -(m + 1); each with its topics, its height and its place from the top. */
const nodes = new Map(order.map((id, place) => [id, { topics: [topicOf(id)], height: 0, place }]));
merges.forEach(([left, right, height], m) => {
  const pair = [nodes.get(left), nodes.get(right)];
  nodes.set(-(m + 1), {
    pair,
    topics: pair.flatMap((node) => node.topics),
    height,
    place: (pair[0].place + pair[1].place) / 2,
  });
});

/** Share of the information that is left when the tree is cut into n clusters. */
export function keptBy(n) {
  return n >= order.length ? 1 : 1 - nodes.get(-(order.length - n)).height;
}

/** Clusters of topics when the tree is cut into n, as `reduce_topics` makes them; the most prevalent topic first in each. */
export function clustersOf(n) {
  const alive = new Set(order);
  merges.slice(0, order.length - n).forEach(([left, right], m) => {
    alive.delete(left);
    alive.delete(right);
    alive.add(-(m + 1));
  });
  return [...alive].map((key) => [...nodes.get(key).topics].sort((a, b) => a.rank - b.rank));
}

/** The picture, and a function that cuts it into n clusters. */
export function dendrogram() {
  const sheet = svg("svg", {
    class: "dendrogram",
    role: "group",
    "aria-label": "Topics as a tree; the clusters are listed as text",
  });
  const frame = el("div", { class: "dendrogram-room", style: { height: `${order.length * ROW + AXIS}px` } }, sheet);
  const highest = Math.max(...merges.map(([, , height]) => height), 1e-9);
  const cutLine = svg("line", { class: "cut" });
  const joints = merges.map((_, m) => {
    const path = svg("path", { class: "joint" });
    path.addEventListener("pointermove", (event) => {
      const node = nodes.get(-(m + 1));
      showTip(
        event.clientX,
        event.clientY,
        `${node.topics.length} topics, ${percent(node.height)} of the information lost so far`,
      );
    });
    path.addEventListener("pointerleave", hideTip);
    return path;
  });
  let cutAt = order.length;

  const draw = () => {
    const { width, height } = frame.getBoundingClientRect();
    if (width === 0) return;
    sheet.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const left = Math.min(Math.max(0.34 * width, 120), 300);
    const px = (value) => left + (value / highest) * (width - left - RIGHT);
    const py = (place) => AXIS + (place + 0.5) * ROW;
    joints.forEach((path, m) => {
      const { pair, height: value } = nodes.get(-(m + 1));
      const [a, b] = pair.map((node) => [px(node.height).toFixed(1), py(node.place).toFixed(1)]);
      path.setAttribute("d", `M${a[0]},${a[1]}H${px(value).toFixed(1)}V${b[1]}H${b[0]}`);
    });
    const letters = (text) => {
      const room = left - 44;
      let most = text.length;
      while (most > 4 && textWidth(shortened(text, most), FONT) > room) most -= 1;
      return shortened(text, most);
    };
    const leaves = order.map((id, place) => {
      const topic = topicOf(id);
      const dot = svg("circle", { cx: left - 8, cy: py(place), r: 5 });
      dot.style.setProperty("fill", colourOf(topic));
      return svg(
        "a",
        { href: topicAddress(topic), class: "leaf", "aria-label": `Topic ${id}: ${topic.label}` },
        svg("rect", { x: 0, y: py(place) - ROW / 2, width: left, height: ROW }),
        svg(
          "text",
          { x: left - 18, y: py(place) + 4.5, "text-anchor": "end", direction: "ltr" },
          `${letters(topic.label)} ${id}`,
        ),
        dot,
      );
    });
    const axis = ticks(0, highest, false).flatMap((value) => [
      svg("line", { class: "rule", x1: px(value).toFixed(1), x2: px(value).toFixed(1), y1: AXIS - 6, y2: height }),
      svg(
        "text",
        { class: "tick", x: px(value).toFixed(1), y: AXIS - 12, "text-anchor": value === 0 ? "start" : "middle" },
        axisPercent(value),
      ),
    ]);
    const level = (m) => (m < 0 ? 0 : m >= merges.length ? highest : merges[m][2]);
    const at = px((level(order.length - cutAt - 1) + level(order.length - cutAt)) / 2).toFixed(1);
    for (const [name, value] of Object.entries({ x1: at, x2: at, y1: AXIS - 6, y2: height }))
      cutLine.setAttribute(name, value);
    sheet.replaceChildren(...axis, ...joints, cutLine, ...leaves);
  };

  const cut = (n) => {
    cutAt = n;
    const first = new Map(clustersOf(n).flatMap((cluster) => cluster.map((topic) => [topic, cluster[0]])));
    joints.forEach((path, m) => {
      const inside = m < order.length - n;
      path.classList.toggle("inside", inside);
      path.style.setProperty("stroke", inside ? colourOf(first.get(nodes.get(-(m + 1)).topics[0])) : "");
    });
    draw();
  };
  new ResizeObserver(draw).observe(frame);
  return { element: frame, cut };
}
