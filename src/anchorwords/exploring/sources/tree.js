// A topic's words as a minimum spanning tree: laid out from its centre so that no edges cross, labels where there is room.

import { words } from "./data.js";
import { el, shortened, svg, textWidth } from "./dom.js";
import { plain } from "./format.js";
import { hideTip, showTip } from "./parts.js";
import { wordAddress } from "./routes.js";

const FONT = '13px system-ui, "Segoe UI", Roboto, sans-serif';
const LETTERS = 16;
const NODE = 7;
const TURNS = 12;
const KINDS = {
  prominent: "7 most prominent",
  characteristic: "7 most characteristic",
  both: "in both",
};

/** Neighbours of each node, and a centre: what is left when leaves are taken away, layer by layer. */
function centred(n, edges) {
  const near = Array.from({ length: n }, () => []);
  for (const [i, j] of edges) {
    near[i].push(j);
    near[j].push(i);
  }
  const degree = near.map((others) => others.length);
  let layer = degree.flatMap((count, i) => (count <= 1 ? [i] : []));
  for (let left = n; left > 2; ) {
    left -= layer.length;
    const following = [];
    for (const leaf of layer) {
      for (const other of near[leaf]) {
        degree[other] -= 1;
        if (degree[other] === 1) following.push(other);
      }
    }
    layer = following;
  }
  return { near, root: Math.min(...layer) };
}

/** Places around the centre: each branch in a sector as wide as its share of the leaves, so that edges cannot cross. */
function radial(n, edges) {
  const { near, root } = centred(n, edges);
  const parent = new Array(n).fill(-1);
  const order = [root];
  parent[root] = root;
  for (const node of order) {
    for (const other of near[node]) {
      if (parent[other] !== -1) continue;
      parent[other] = node;
      order.push(other);
    }
  }
  const leaves = new Array(n).fill(0);
  for (const node of [...order].reverse()) {
    leaves[node] = Math.max(leaves[node], 1);
    if (node !== root) leaves[parent[node]] += leaves[node];
  }
  const places = Array.from({ length: n }, () => [0, 0]);
  const start = new Array(n).fill(0);
  const wide = new Array(n).fill(2 * Math.PI);
  for (const node of order) {
    let angle = start[node];
    const children = near[node].filter((other) => other !== parent[node]);
    const total = children.reduce((sum, child) => sum + leaves[child], 0);
    for (const child of children) {
      wide[child] = (wide[node] * leaves[child]) / total;
      start[child] = angle;
      const middle = angle + wide[child] / 2;
      places[child] = [places[node][0] + Math.cos(middle), places[node][1] + Math.sin(middle)];
      angle += wide[child];
    }
  }
  return places;
}

/** Places turned by an angle and stretched to fill a room within its margins. */
function turned(places, angle, room, margin) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const spun = places.map(([x, y]) => [c * x - s * y, s * x + c * y]);
  return spun.map((place) =>
    place.map((value, axis) => {
      const all = spun.map((other) => other[axis]);
      const [low, high] = [Math.min(...all), Math.max(...all)];
      const share = high - low < 1e-6 ? 0.5 : (value - low) / (high - low);
      return margin[axis] + share * (room[axis] - 2 * margin[axis]);
    }),
  );
}

/** The sides of a node on which its label can stand: [left, top, end by which it is fixed]. */
function sides([x, y], width) {
  const gap = NODE + 4;
  return [
    [x - width / 2, y - gap - LETTERS, "middle"],
    [x - width / 2, y + gap, "middle"],
    [x + gap, y - LETTERS / 2, "start"],
    [x - gap - width, y - LETTERS / 2, "end"],
    [x + gap * 0.6, y - gap * 0.6 - LETTERS, "start"],
    [x + gap * 0.6, y + gap * 0.6, "start"],
    [x - gap * 0.6 - width, y - gap * 0.6 - LETTERS, "end"],
    [x - gap * 0.6 - width, y + gap * 0.6, "end"],
  ];
}

/** What a label in a place would cover: others and nodes above all, then what is outside, then edges. */
function costOf([x, y], width, { boxes, nodes, dots, room }) {
  const within = ([px, py], slack) =>
    px > x - slack && px < x + width + slack && py > y - slack && py < y + LETTERS + slack;
  const across = (box) =>
    x < box.x + box.width + 2 && box.x < x + width + 2 && y < box.y + LETTERS && box.y < y + LETTERS;
  const over = boxes.filter(across).length + nodes.filter((node) => within(node, NODE - 2)).length;
  const beyond = (low, high, size) => Math.max(-low, 0) + Math.max(high - size, 0);
  const outside = beyond(x, x + width, room[0]) + beyond(y, y + LETTERS, room[1]);
  return 100 * over + 20 * outside + dots.filter((dot) => within(dot, 0)).length;
}

/** Labels one after the other, each where it covers least; and how much they cover, together. */
function labelled(nodes, edges, widths, room) {
  const dots = edges.flatMap(([i, j]) =>
    Array.from({ length: 15 }, (_, k) => {
      const t = (k + 1) / 16;
      return [nodes[i][0] * (1 - t) + nodes[j][0] * t, nodes[i][1] * (1 - t) + nodes[j][1] * t];
    }),
  );
  const boxes = [];
  let trouble = 0;
  nodes.forEach((node, i) => {
    const width = widths[i];
    const places = sides(node, width).map((side, number) => ({
      x: side[0],
      y: side[1],
      width,
      anchor: side[2],
      cost: 0.01 * number + costOf(side, width, { boxes, nodes, dots, room }),
    }));
    const best = places.reduce((a, b) => (b.cost < a.cost ? b : a));
    boxes.push(best);
    trouble += best.cost;
  });
  return { boxes, trouble };
}

function bestView(tree, names, room) {
  const widths = names.map((text) => textWidth(text, FONT) + 2);
  const places = radial(names.length, tree.edges);
  const margin = [Math.min(0.5 * Math.max(...widths) + 2, 0.3 * room[0]), LETTERS + 12];
  let best = null;
  for (let turn = 0; turn < TURNS; turn++) {
    const nodes = turned(places, (Math.PI * turn) / TURNS, room, margin);
    const found = labelled(nodes, tree.edges, widths, room);
    if (best === null || found.trouble < best.trouble - 1e-6) best = { nodes, ...found };
  }
  return best;
}

function shape(kind, [x, y]) {
  const at = (dx, dy) => `${(x + dx).toFixed(1)},${(y + dy).toFixed(1)}`;
  if (kind === "prominent") return svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 6 });
  const r = kind === "both" ? 7.5 : 6;
  const corners =
    kind === "both" ? [at(0, -r), at(r, 0), at(0, r), at(-r, 0)] : [at(-r, -r), at(r, -r), at(r, r), at(-r, r)];
  return svg("polygon", { points: corners.join(" ") });
}

/** The tree of a topic, drawn anew when its room changes. */
export function treeGraph(topic) {
  const { tree } = topic;
  const sheet = svg("svg", { class: "tree", role: "group", "aria-label": "Words of the topic, joined into a tree" });
  const frame = el("div", { class: "tree-room" }, sheet);
  const weights = tree.edges.map(([, , weight]) => weight);
  const [low, high] = [Math.min(...weights), Math.max(...weights, Math.min(...weights) + 0.02)];
  const draw = () => {
    const { width, height } = frame.getBoundingClientRect();
    if (width === 0) return;
    const names = tree.words.map((word) => shortened(words.text[word], width < 420 ? 16 : 24));
    const { nodes, boxes } = bestView(tree, names, [width, height]);
    sheet.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const lines = tree.edges.map(([i, j, weight]) => {
      const near = 1 - (weight - low) / (high - low);
      const line = svg("line", {
        x1: nodes[i][0].toFixed(1),
        y1: nodes[i][1].toFixed(1),
        x2: nodes[j][0].toFixed(1),
        y2: nodes[j][1].toFixed(1),
        "stroke-width": (1.2 + 3.2 * near).toFixed(2),
        class: "tree-edge",
      });
      line.style.setProperty("opacity", (0.35 + 0.65 * near).toFixed(2));
      return line;
    });
    const marks = tree.words.map((word, i) => {
      const anchor = topic.anchors.includes(word);
      const box = boxes[i];
      const x = { start: box.x, middle: box.x + box.width / 2, end: box.x + box.width }[box.anchor];
      return svg(
        "a",
        {
          href: wordAddress(word),
          class: `tree-node ${tree.kinds[i]}`,
          "aria-label": `${names[i]}, ${KINDS[tree.kinds[i]]}`,
        },
        anchor ? svg("circle", { cx: nodes[i][0].toFixed(1), cy: nodes[i][1].toFixed(1), r: 11, class: "ring" }) : null,
        shape(tree.kinds[i], nodes[i]),
        svg(
          "text",
          { x: x.toFixed(1), y: (box.y + 12).toFixed(1), "text-anchor": box.anchor, class: anchor ? "anchor" : null },
          names[i],
        ),
      );
    });
    lines.forEach((line, number) => {
      const [i, j, weight] = tree.edges[number];
      line.addEventListener("pointermove", (event) =>
        showTip(
          event.clientX,
          event.clientY,
          `${names[i]} – ${names[j]}: weight ${plain(weight)}, NPMI ${plain(1 - 2 * weight)}`,
        ),
      );
      line.addEventListener("pointerleave", hideTip);
    });
    sheet.replaceChildren(...lines, ...marks);
  };
  new ResizeObserver(draw).observe(frame);
  const legend = Object.entries(KINDS)
    .filter(([kind]) => tree.kinds.includes(kind))
    .map(([kind, title]) =>
      el(
        "span",
        { class: "key" },
        svg("svg", { viewBox: "0 0 18 18", class: `key-mark tree-node ${kind}` }, shape(kind, [9, 9])),
        title,
      ),
    );
  const ring = svg(
    "svg",
    { viewBox: "0 0 24 24", class: "key-mark" },
    svg("circle", { cx: 12, cy: 12, r: 10, class: "ring" }),
  );
  return el(
    "div",
    { class: "tree-box" },
    frame,
    el(
      "p",
      { class: "keys" },
      ...legend,
      el("span", { class: "key" }, ring, "anchor"),
      el("span", { class: "key" }, "thick lines: often together"),
    ),
  );
}
