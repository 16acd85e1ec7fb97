// A line of values by step, with axes.

import { el, svg } from "./dom.js";
import { plain } from "./format.js";

const WIDTH = 520;
const HEIGHT = 240;
const ROOM = { left: 62, right: 14, top: 12, bottom: 36 };

/** Round numbers within a range: powers of ten on a logarithmic axis. */
export function ticks(low, high, logarithmic) {
  if (logarithmic) {
    const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
    const step = Math.max(1, Math.ceil((last - first + 1) / 6));
    const found = [];
    for (let power = first; power <= last; power += step) found.push(10 ** power);
    return found.length >= 2 ? found : [low, high];
  }
  const rough = (high - low) / 4 || 1;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * size).find((n) => n >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + 1e-9 * step; value += step)
    found.push(Number(value.toPrecision(12)));
  return found;
}

/** The chart: values that a logarithm cannot show are left out; `goal` is a dashed line across. */
export function lineChart({ x, y, logarithmic = false, xTitle, yTitle, goal = null, label }) {
  const points = x.map((step, i) => [step, y[i]]).filter(([, value]) => value !== null && (!logarithmic || value > 0));
  if (points.length === 0) return el("p", { class: "note" }, "There are no values to draw.");
  const values = points.map(([, value]) => value).concat(goal !== null && (!logarithmic || goal > 0) ? [goal] : []);
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (low === high) [low, high] = logarithmic ? [low / 2, high * 2] : [low - 1, high + 1];
  const scaled = (value) => (logarithmic ? Math.log10(value) : value);
  const [first, last] = [points[0][0], Math.max(points[points.length - 1][0], points[0][0] + 1)];
  const px = (step) => ROOM.left + ((step - first) / (last - first)) * (WIDTH - ROOM.left - ROOM.right);
  const py = (value) => {
    const share = (scaled(value) - scaled(low)) / (scaled(high) - scaled(low));
    return HEIGHT - ROOM.bottom - share * (HEIGHT - ROOM.top - ROOM.bottom);
  };
  const across = (value, attributes) =>
    svg("line", {
      x1: ROOM.left,
      x2: WIDTH - ROOM.right,
      y1: py(value).toFixed(1),
      y2: py(value).toFixed(1),
      ...attributes,
    });
  const sheet = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": label });
  for (const value of ticks(low, high, logarithmic)) {
    const name = logarithmic ? value.toExponential(0).replace("e+", "e") : plain(value);
    sheet.append(
      across(value, { class: "rule" }),
      svg("text", { x: ROOM.left - 8, y: (py(value) + 4).toFixed(1), "text-anchor": "end" }, name),
    );
  }
  const steps = ticks(first, last, false).filter(Number.isInteger);
  for (const step of steps) {
    sheet.append(
      svg("text", { x: px(step).toFixed(1), y: HEIGHT - ROOM.bottom + 18, "text-anchor": "middle" }, plain(step)),
    );
  }
  if (goal !== null && (!logarithmic || goal > 0)) sheet.append(across(goal, { class: "goal" }));
  const path = points.map(([step, value]) => `${px(step).toFixed(1)},${py(value).toFixed(1)}`).join(" ");
  const [endStep, endValue] = points[points.length - 1];
  sheet.append(
    svg("polyline", { points: path, class: "line" }),
    ...(points.length <= 40 ? points : [[endStep, endValue]]).map(([step, value]) =>
      svg("circle", { cx: px(step).toFixed(1), cy: py(value).toFixed(1), r: 3, class: "dot" }),
    ),
    svg(
      "text",
      { x: (ROOM.left + WIDTH - ROOM.right) / 2, y: HEIGHT - 3, "text-anchor": "middle", class: "axis" },
      xTitle,
    ),
    svg(
      "text",
      { x: 0, y: 0, "text-anchor": "middle", class: "axis", transform: `translate(13,${HEIGHT / 2 - 10}) rotate(-90)` },
      yTitle,
    ),
  );
  return sheet;
}
