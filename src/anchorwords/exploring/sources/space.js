// The co-occurrence space: every word a point, anchors at the corners, on a canvas that can be moved and zoomed.

import { colourOf, themed } from "./colour.js";
import { inOrder, mainTopic, page, space, topicOf, topics, words } from "./data.js";
import { announce, card, el, shortened, textWidth, userText } from "./dom.js";
import { percent, whole } from "./format.js";
import { placeLabels } from "./labels.js";
import { zoomTools } from "./map.js";
import { panzoom } from "./panzoom.js";
import { badge, hideTip, showTip } from "./parts.js";
import { go, wordAddress } from "./routes.js";

const FONT = '600 12px system-ui, "Segoe UI", Roboto, sans-serif';
const SMALL_FONT = '11px system-ui, "Segoe UI", Roboto, sans-serif';
const MARGIN = 28;
const REACH = 12;
const CELL = 24;
// Half the side of an anchor's square.
const SQUARE = topics.length > 40 ? 3.2 : 4.5;

/** Points that have a place, the rare ones first so that the frequent lie on top. */
const points =
  space === null
    ? []
    : space.x
        .flatMap((x, place) => (x === null ? [] : [{ place, x, y: space.y[place], topic: mainTopic(place) }]))
        .sort((a, b) => words.probability[a.place] - words.probability[b.place]);

const box = points.reduce(
  (found, { x, y }) => ({
    left: Math.min(found.left, x),
    right: Math.max(found.right, x),
    low: Math.min(found.low, y),
    high: Math.max(found.high, y),
  }),
  {
    left: Number.POSITIVE_INFINITY,
    right: Number.NEGATIVE_INFINITY,
    low: Number.POSITIVE_INFINITY,
    high: Number.NEGATIVE_INFINITY,
  },
);

/** Pictures of the view that is shown, to be drawn anew in other colours. */
let pictures = [];
window.addEventListener("themechange", () => {
  for (const { redraw } of pictures) redraw();
});

/** Where nearly all words and all anchors lie: a few words far off would leave the others a heap. */
const middle = (() => {
  const anchors = topics.map((topic) => topic.anchors[0]);
  const range = (values) => {
    const order = points.map(({ place }) => values[place]).sort((a, b) => a - b);
    const at = (share) => order[Math.round(share * (order.length - 1))];
    const corners = anchors.map((place) => values[place]).filter((value) => value !== null);
    return [Math.min(at(0.01), ...corners), Math.max(at(0.99), ...corners)];
  };
  return points.length === 0 ? null : { x: range(space.x), y: range(space.y) };
})();

function sizeOf(place) {
  // By the cube root: a word a thousand times as frequent is ten times as wide, within limits that can be seen.
  return Math.min(Math.max(1.6, 28 * Math.cbrt(words.probability[place])), 6);
}

/**
 * The space as an element: `highlight` is a topic or null, `word` a place or null, `small` leaves out tools and labels of
 * anchors that are not the topic's.
 */
export function spaceCanvas({ highlight = null, word = null, small = false, label }) {
  const canvas = el("canvas", { tabindex: small ? null : 0, role: "img", "aria-label": label });
  const frame = el("div", { class: small ? "space space-small" : "space" }, canvas);
  const pencil = canvas.getContext("2d");
  const seen = {
    width: 0,
    height: 0,
    x: new Float32Array(points.length),
    y: new Float32Array(points.length),
    cells: new Map(),
  };
  let chosen = highlight;
  let pending = false;

  const project = (x, y) => {
    const { scale, x: dx, y: dy } = zoom.view;
    const unit = (room, size) => (room - 2 * MARGIN) / Math.max(size, 1e-12);
    const px = MARGIN + (x - box.left) * unit(seen.width, box.right - box.left);
    const py = seen.height - MARGIN - (y - box.low) * unit(seen.height, box.high - box.low);
    return [px * scale + dx, py * scale + dy];
  };

  const draw = () => {
    pending = false;
    const { width, height } = frame.getBoundingClientRect();
    if (width === 0) return;
    const dense = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
      canvas.width = Math.round(width * dense);
      canvas.height = Math.round(height * dense);
    }
    const first = seen.width === 0;
    Object.assign(seen, { width, height });
    if (first) begin();
    pencil.setTransform(dense, 0, 0, dense, 0, 0);
    pencil.clearRect(0, 0, width, height);
    drawPoints();
    drawHull();
    drawAnchors();
    if (word !== null) drawWord();
  };
  const redraw = () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(draw);
  };

  /** Begin where the words are. */
  const begin = () => {
    const [left, top] = project(middle.x[0], middle.y[1]);
    const [right, bottom] = project(middle.x[1], middle.y[0]);
    zoom.fit(left - MARGIN, top - MARGIN, right + MARGIN, bottom + MARGIN);
  };

  const drawPoints = () => {
    const { width, height } = seen;
    const grow = Math.min(1 + 0.35 * Math.log2(zoom.view.scale), 3);
    const grey = themed("--faint");
    seen.cells.clear();
    points.forEach((point, i) => {
      const [x, y] = project(point.x, point.y);
      seen.x[i] = x;
      seen.y[i] = y;
      if (x < -5 || y < -5 || x > width + 5 || y > height + 5) return;
      const key = Math.floor(x / CELL) * 4096 + Math.floor(y / CELL);
      const cell = seen.cells.get(key);
      if (cell) cell.push(i);
      else seen.cells.set(key, [i]);
      const strong = chosen === null || point.topic === chosen;
      pencil.fillStyle = strong && point.topic !== null ? colourOf(point.topic) : grey;
      pencil.globalAlpha = strong ? 0.72 : 0.35;
      const radius = sizeOf(point.place) * grow;
      pencil.beginPath();
      pencil.arc(x, y, radius, 0, 2 * Math.PI);
      pencil.fill();
    });
    pencil.globalAlpha = 1;
  };

  const placeOfAnchor = (topic) => {
    const place = topic.anchors[0];
    return space.x[place] === null ? null : project(space.x[place], space.y[place]);
  };

  const drawHull = () => {
    const corners = space.hull.map((id) => placeOfAnchor(topicOf(id))).filter((corner) => corner !== null);
    if (corners.length < 2) return;
    pencil.strokeStyle = themed("--ink");
    pencil.globalAlpha = 0.55;
    pencil.setLineDash([5, 4]);
    pencil.lineWidth = 1.2;
    pencil.beginPath();
    corners.forEach(([x, y], i) => {
      if (i === 0) pencil.moveTo(x, y);
      else pencil.lineTo(x, y);
    });
    pencil.closePath();
    pencil.stroke();
    pencil.setLineDash([]);
    pencil.globalAlpha = 1;
  };

  /** Anchors within the frame, those to be named first at the head. */
  const anchorMarks = () => {
    const corners = new Set(space.hull);
    const inFrame = ([x, y]) => x > -20 && y > -20 && x < seen.width + 20 && y < seen.height + 20;
    const first = (topic) => (topic === chosen ? 2 : Number(corners.has(topic.topic)));
    return inOrder
      .filter((topic) => !small || first(topic) > 0)
      .map((topic) => ({ topic, at: placeOfAnchor(topic) }))
      .filter(({ topic, at }) => at !== null && inFrame(at) && topic.anchors[0] !== word)
      .map(({ topic, at: [x, y] }) => {
        const text = shortened(words.text[topic.anchors[0]], 22);
        return { x, y, radius: 5, names: [{ text, width: textWidth(text, FONT) + 2 }], topic };
      })
      .sort((a, b) => first(b.topic) - first(a.topic));
  };

  const drawAnchors = () => {
    const marks = anchorMarks();
    for (const mark of marks) {
      pencil.beginPath();
      pencil.rect(mark.x - SQUARE, mark.y - SQUARE, 2 * SQUARE, 2 * SQUARE);
      pencil.fillStyle = colourOf(mark.topic);
      pencil.fill();
      pencil.lineWidth = 0.4 * SQUARE;
      pencil.strokeStyle = themed("--ink");
      pencil.stroke();
    }
    // Once near, the most frequent words that have room are named too.
    const near = zoom.view.scale > 2.5 && !small ? named(220) : [];
    for (const { point, text, x, y, anchor } of placeLabels([...marks, ...near], seen, 14)) {
      const word = point.topic === null;
      pencil.font = word ? SMALL_FONT : FONT;
      pencil.textAlign = anchor === "middle" ? "center" : anchor;
      pencil.textBaseline = "middle";
      pencil.lineWidth = 3;
      pencil.strokeStyle = themed("--panel");
      pencil.strokeText(text, x, y);
      pencil.fillStyle = themed(word ? "--muted" : "--ink");
      pencil.fillText(text, x, y);
    }
  };

  const named = (most) => {
    const found = [];
    for (let i = points.length - 1; i >= 0 && found.length < most; i--) {
      if (seen.x[i] < 0 || seen.y[i] < 0 || seen.x[i] > seen.width || seen.y[i] > seen.height) continue;
      const text = shortened(words.text[points[i].place], 18);
      const names = [{ text, width: textWidth(text, SMALL_FONT) + 2 }];
      found.push({ x: seen.x[i], y: seen.y[i], radius: 3, names, topic: null });
    }
    return found;
  };

  const drawWord = () => {
    if (space.x[word] === null) return;
    const [x, y] = project(space.x[word], space.y[word]);
    pencil.lineWidth = 3;
    pencil.strokeStyle = themed("--stress");
    pencil.beginPath();
    pencil.arc(x, y, 9, 0, 2 * Math.PI);
    pencil.stroke();
    const text = shortened(words.text[word], 24);
    const left = x > seen.width / 2;
    pencil.font = FONT;
    pencil.textAlign = left ? "right" : "left";
    pencil.textBaseline = "middle";
    pencil.strokeStyle = themed("--panel");
    pencil.lineWidth = 4;
    pencil.strokeText(text, x + (left ? -14 : 14), y);
    pencil.fillStyle = themed("--stress");
    pencil.fillText(text, x + (left ? -14 : 14), y);
  };

  /** The point nearest to the pointer, the frequent first among those that touch it. */
  const under = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    let best = null;
    let least = REACH;
    for (let i = -1; i <= 1; i++) {
      for (let j = -1; j <= 1; j++) {
        const key = (Math.floor(x / CELL) + i) * 4096 + Math.floor(y / CELL) + j;
        for (const number of seen.cells.get(key) ?? []) {
          const distance = Math.hypot(seen.x[number] - x, seen.y[number] - y);
          if (distance <= least) {
            least = distance;
            best = points[number];
          }
        }
      }
    }
    return best;
  };

  canvas.addEventListener("pointermove", (event) => {
    const point = event.buttons ? null : under(event);
    canvas.classList.toggle("on-point", point !== null);
    if (point === null) {
      hideTip();
      return;
    }
    const own = words.topics[point.place];
    showTip(
      event.clientX,
      event.clientY,
      el("div", { class: "tip-head" }, userText(words.text[point.place])),
      point.topic
        ? el("div", {}, badge(point.topic), " ", userText(point.topic.label), ` ${percent(own[1])}`)
        : "in no topic",
    );
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", (event) => {
    const point = zoom.dragged() ? null : under(event);
    if (point !== null) go(wordAddress(point.place));
  });
  canvas.addEventListener("keydown", (event) => {
    const actions = {
      "+": zoom.zoomIn,
      "=": zoom.zoomIn,
      "-": zoom.zoomOut,
      0: zoom.reset,
      ArrowLeft: () => zoom.move(60, 0),
      ArrowRight: () => zoom.move(-60, 0),
      ArrowUp: () => zoom.move(0, 60),
      ArrowDown: () => zoom.move(0, -60),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  });

  const zoom = panzoom(canvas, { redraw, wheel: small ? "ctrl" : "always" });
  new ResizeObserver(() => zoom.settle()).observe(frame);
  pictures = [...pictures.filter((picture) => picture.frame.isConnected), { frame, redraw }];
  return {
    element: frame,
    tools: zoomTools(zoom, "space"),
    choose: (topic) => {
      chosen = topic;
      redraw();
    },
  };
}

/** The view of the space. */
export function spaceView({ topic }) {
  if (space === null)
    return [
      el("h1", {}, "Co-occurrence space"),
      el("p", {}, "This model has no space to draw: its words lie on one point."),
    ];
  const canvas = spaceCanvas({
    highlight: topic,
    label:
      "Words in the two main directions of the co-occurrence space; the table of topics lists the same words as text",
  });
  const choose = el(
    "select",
    {
      id: "space-topic",
      on: {
        change: (event) => {
          const found = event.target.value === "" ? null : topicOf(Number(event.target.value));
          canvas.choose(found);
          history.replaceState(null, "", found === null ? "#space" : `#space-${found.topic}`);
          announce(found === null ? "All topics" : `Words of topic ${found.topic}`);
        },
      },
    },
    el("option", { value: "" }, "all topics"),
    ...inOrder.map((other) =>
      el("option", { value: other.topic, selected: other === topic }, `${other.topic}: ${shortened(other.label, 40)}`),
    ),
  );
  const [first, second] = space.explained;
  const sample =
    words.text.length < page.n_words
      ? `${whole(points.length)} of ${whole(page.n_words)} words are drawn: all that topics list, the most frequent, and an even sample of the rest.`
      : `All ${whole(points.length)} words that can be placed are drawn.`;
  const what =
    space.of === "rectified"
      ? "Words are near each other if they co-occur with the same words (rows of the rectified co-occurrence matrix)."
      : "Words are near each other if they belong to the same topics (this model does not contain its co-occurrence matrix).";
  const hull =
    page.model.log_likelihood === null
      ? "the model treats all other words as mixtures of them."
      : "the fit starts with topics at its corners. These topics were refined afterwards, so their anchors need not be corners any more.";
  return [
    el("h1", {}, "Co-occurrence space"),
    card(
      "Words and the hull of the anchors",
      {
        class: "space-card",
        tools: el(
          "div",
          { class: "tools" },
          el("label", { for: "space-topic" }, "show words of "),
          choose,
          canvas.tools,
        ),
        note: `${what} Squares are anchors, and the dashed line is their hull: ${hull} Drag to move, scroll to zoom, click a word.`,
      },
      canvas.element,
      el(
        "p",
        { class: "note" },
        `${sample} The two directions carry ${percent(first)} and ${percent(second)} of the variance, so a word that looks inside the hull may be outside it in other directions.`,
      ),
    ),
  ];
}
