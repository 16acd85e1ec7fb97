// Topics as a map: near where they share documents, as large as they are prevalent, joined where they go together.

import { colourOf, inkOn, shade } from "./colour.js";
import { byRank, edges, inOrder, listed, page, topicOf, topics } from "./data.js";
import { el, fewerWords, shortened, svg, textWidth, userText } from "./dom.js";
import { FIGURES } from "./figures.js";
import { percent, plain } from "./format.js";
import { placeLabels } from "./labels.js";
import { panzoom } from "./panzoom.js";
import { badge, hideTip, showTip } from "./parts.js";
import { go, topicAddress } from "./routes.js";
import { state } from "./state.js";

const FONT = '600 12px system-ui, "Segoe UI", Roboto, sans-serif';
const LABEL_HEIGHT = 15;
/** Pixels by which a label must be nearer to its own circle than to any other. */
const NEARER = 3;

/** What circles can be coloured by. */
export const COLOURINGS = [{ key: "topic", title: "topic" }, ...FIGURES];

/** Least and largest value of a quantity over topics. */
export function extent(key) {
  const values = topics.map((topic) => topic[key]).filter((value) => typeof value === "number");
  return [Math.min(...values), Math.max(...values)];
}

function fillOf(topic, heat) {
  if (heat !== null || state.colourBy === "topic") return colourOf(topic);
  const [low, high] = extent(state.colourBy);
  return shade(high > low ? (topic[state.colourBy] - low) / (high - low) : 0.5);
}

function topicTip(topic) {
  const top = listed(topic, state, 8).map(({ word }) => page.words.text[word]);
  return [
    el("div", { class: "tip-head" }, badge(topic), " ", userText(topic.label)),
    el("div", {}, `${percent(topic.prevalence)} of all words`),
    el("div", { class: "tip-words" }, ...top.flatMap((word, i) => [i ? " · " : "", userText(shortened(word, 30))])),
  ];
}

/**
 * The map as an element.
 *
 * `selected` is a topic to stand out; `heat` gives shares by topic id, which then decide how strong circles are; `small`
 * leaves out names that the heat does not ask for.
 */
export function topicMap({ selected = null, heat = null, small = false, label }) {
  const lines = svg("g", { class: "map-edges" });
  const circles = svg("g", { class: "map-nodes" });
  const names = svg("g", { class: "map-names", "aria-hidden": "true" });
  const sheet = svg("svg", { role: "group", "aria-label": label }, lines, circles, names);
  const frame = el("div", { class: small ? "map map-small" : "map" }, sheet);
  let hovered = null;

  const nodes = topics.map((topic) => {
    const circle = svg("circle");
    const number = svg("text", { class: "map-number", "aria-hidden": "true" }, String(topic.topic));
    const node = svg(
      "a",
      {
        href: topicAddress(topic),
        class: topic === selected ? "map-node selected" : "map-node",
        "data-topic": topic.topic,
        "aria-label": `Topic ${topic.topic}: ${topic.label}, ${percent(topic.prevalence)}`,
        tabindex: topic === (selected ?? inOrder[0]) ? 0 : -1,
      },
      circle,
      number,
    );
    return { topic, node, circle, number, x: 0, y: 0, radius: 0 };
  });
  // Small circles lie on top, so that none is out of reach.
  for (const topic of byRank) circles.append(nodes[topic.position].node);
  const joints = edges.map(([id, other, affinity, sure]) => {
    const line = svg("line", {
      class: sure === false ? "unsure" : null,
      "stroke-width": Math.min(1 + 1.3 * Math.log2(affinity / 1.2), 6).toFixed(2),
    });
    lines.append(line);
    return { line, from: nodes[topicOf(id).position], to: nodes[topicOf(other).position] };
  });

  const paint = () => {
    for (const { topic, node, circle, number } of nodes) {
      const fill = fillOf(topic, heat);
      circle.style.setProperty("fill", fill);
      number.style.setProperty("fill", inkOn(fill));
      const strength = heat === null ? 1 : 0.12 + 0.88 * Math.min(1, (heat.get(topic.topic) ?? 0) * 1.6);
      node.style.setProperty("opacity", strength.toFixed(3));
    }
  };

  const draw = () => {
    const { width, height } = frame.getBoundingClientRect();
    if (width === 0) return;
    const { scale, x, y } = zoom.view;
    sheet.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const unit = Math.min(width / page.map.aspect, height) * Math.sqrt(scale);
    for (const entry of nodes) {
      const [px, py] = entry.topic.place;
      entry.x = (px / page.map.aspect) * width * scale + x;
      entry.y = py * height * scale + y;
      entry.radius = entry.topic.radius * unit;
      entry.circle.setAttribute("r", entry.radius.toFixed(2));
      entry.node.setAttribute("transform", `translate(${entry.x.toFixed(2)},${entry.y.toFixed(2)})`);
      entry.number.style.setProperty("display", entry.radius >= 9 ? "" : "none");
    }
    for (const { line, from, to } of joints) {
      line.setAttribute("x1", from.x.toFixed(2));
      line.setAttribute("y1", from.y.toFixed(2));
      line.setAttribute("x2", to.x.toFixed(2));
      line.setAttribute("y2", to.y.toFixed(2));
    }
    if (!small || heat !== null) write(width, height);
  };

  const write = (width, height) => {
    // Where many topics share the room, more of them have a name when names are short.
    const longest = Math.round(Math.min(26, 12 + (zoom.view.scale ** 2 * width * height) / (1500 * topics.length)));
    const points = (heat === null ? inOrder : [...heat.keys()].map(topicOf))
      .map((topic) => nodes[topic.position])
      .filter((node) => node.x > -20 && node.y > -20 && node.x < width + 20 && node.y < height + 20)
      .map((node) => {
        const texts = [longest, 15, 9].map((most) => fewerWords(node.topic.label, most));
        const names = [...new Set(texts)].map((text) => ({ text, width: textWidth(text, FONT) + 4 }));
        return { ...node, names };
      });
    const named = new Set(points.map((point) => point.topic));
    const others = nodes.filter((node) => !named.has(node.topic)).map((node) => ({ ...node, names: [] }));
    names.replaceChildren(
      ...placeLabels([...points, ...others], { width, height }, LABEL_HEIGHT, NEARER).map((found) =>
        svg(
          "text",
          {
            x: found.x.toFixed(1),
            y: (found.y + 4).toFixed(1),
            "text-anchor": found.anchor,
            direction: "ltr",
            "data-topic": found.point.topic.topic,
          },
          found.text,
        ),
      ),
    );
  };

  const stress = (topic) => {
    if (hovered === topic) return;
    hovered = topic;
    const near = new Set();
    for (const { line, from, to } of joints) {
      const own = topic !== null && (from.topic === topic || to.topic === topic);
      line.classList.toggle("stressed", own);
      if (own) near.add(from.topic).add(to.topic);
    }
    if (topic !== null) near.add(topic);
    sheet.classList.toggle("dimmed", topic !== null);
    for (const entry of nodes) entry.node.classList.toggle("stressed", near.has(entry.topic));
  };

  const nodeOf = (event) => {
    const found = event.target.closest?.(".map-node");
    return found ? nodes[topicOf(Number(found.dataset.topic)).position] : null;
  };
  sheet.addEventListener("pointermove", (event) => {
    const entry = event.pointerType === "touch" ? null : nodeOf(event);
    stress(entry?.topic ?? null);
    if (entry) showTip(event.clientX, event.clientY, ...topicTip(entry.topic));
    else hideTip();
  });
  sheet.addEventListener("pointerleave", () => {
    stress(null);
    hideTip();
  });
  sheet.addEventListener("click", (event) => {
    if (zoom.dragged()) event.preventDefault();
  });
  sheet.addEventListener("focusin", (event) => {
    const entry = nodeOf(event);
    if (!entry?.node.matches(":focus-visible")) return;
    const { left, top } = frame.getBoundingClientRect();
    stress(entry.topic);
    showTip(left + entry.x + entry.radius, top + entry.y, ...topicTip(entry.topic));
  });
  sheet.addEventListener("focusout", () => {
    stress(null);
    hideTip();
  });
  sheet.addEventListener("keydown", (event) => {
    const entry = nodeOf(event);
    if (!entry) return;
    if (event.key === " ") {
      event.preventDefault();
      go(topicAddress(entry.topic));
    }
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (direction === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const next = nearestTowards(nodes, entry, direction);
    if (next === null) return;
    for (const other of nodes) other.node.setAttribute("tabindex", other === next ? 0 : -1);
    next.node.focus();
  });

  const zoom = panzoom(sheet, { redraw: draw, wheel: "ctrl" });
  new ResizeObserver(() => zoom.settle()).observe(frame);
  paint();
  return { element: frame, repaint: paint, tools: zoomTools(zoom, "map") };
}

/** The node that lies nearest in a direction, what is off to the side counting double; null at the end. */
function nearestTowards(nodes, from, [dx, dy]) {
  let best = null;
  let least = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    const x = node.x - from.x;
    const y = node.y - from.y;
    const along = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (node === from || along <= 0) continue;
    const cost = along + 2 * aside;
    if (cost < least) {
      least = cost;
      best = node;
    }
  }
  return best;
}

/** Buttons that zoom in, out and back. */
export function zoomTools(zoom, what) {
  const button = (sign, name, action) =>
    el("button", { type: "button", "aria-label": `${name} the ${what}`, title: name, on: { click: action } }, sign);
  return el(
    "div",
    { class: "zoom-tools" },
    button("+", "Zoom into", zoom.zoomIn),
    button("−", "Zoom out of", zoom.zoomOut),
    button("⤢", "Show all of", zoom.reset),
  );
}

/** The scale of a colouring: least and largest value. */
export function colourScale(key) {
  const [low, high] = extent(key);
  return el(
    "span",
    { class: "colour-scale" },
    plain(low),
    el("span", { class: "ramp", "aria-hidden": "true" }),
    plain(high),
  );
}
