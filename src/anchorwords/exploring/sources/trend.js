// Curves over time: the share of a topic in each period, its interval as a band, and what the trend is.

import { page } from "./data.js";
import { el, svg } from "./dom.js";
import { axisPercent, percent, whole } from "./format.js";
import { ticks } from "./lines.js";
import { hideTip, showTip } from "./parts.js";

export const time = page.time;
/** Width of a letter of an axis, and room between names. */
const LETTER = 6.6;
const GAP = 8;
const byTopic = new Map((time?.topics ?? []).map((series) => [series.topic, series]));

/** What is known of a topic over time. */
export function seriesOf(topic) {
  return byTopic.get(topic.topic);
}

/** The largest value that a curve or its band reaches. */
export function highest(series) {
  return Math.max(...series.prevalence.map((value, t) => Math.max(value ?? 0, series.high[t] ?? 0)), 1e-6);
}

/** "rising, +1.2 points (0.8 to 1.6)": the verdict, the change from the first to the last document, and its interval. */
export function verdictOf({ verdict, change, change_low: low, change_high: high }) {
  if (change === null) return "no trend: all documents have the same time";
  const size = 100 * Math.abs(change);
  const digits = size >= 0.95 ? 1 : size >= 0.095 ? 2 : 3;
  const points = (value) => (100 * value).toFixed(digits).replace("-", "−");
  const interval = low === null || high === null ? "" : ` (${points(low)} to ${points(high)})`;
  return `${verdict}, ${change > 0 ? "+" : ""}${points(change)} points${interval}`;
}

/** An arrow for a verdict; the words say the same. */
export function arrowOf({ verdict }) {
  const sign = { rising: "↗", falling: "↘" }[verdict] ?? "→";
  return el("span", { class: `trend-arrow ${verdict.split(" ")[0]}`, "aria-hidden": "true" }, sign);
}

/** Runs of periods that have a value. */
function runs(values) {
  const found = [];
  values.forEach((value, t) => {
    if (value === null) return;
    if (t > 0 && values[t - 1] !== null) found[found.length - 1].push(t);
    else found.push([t]);
  });
  return found;
}

function periodTip(series, t) {
  const { low, high } = series;
  const interval = low[t] === null ? "" : ` (${percent(low[t])} to ${percent(high[t])})`;
  return [
    el("div", { class: "tip-head" }, time.periods[t]),
    el("div", {}, `${percent(series.prevalence[t])}${interval}`),
    el("div", { class: "tip-words" }, `${whole(time.n_documents[t])} documents`),
  ];
}

/** Names of periods below an axis: the first, the last, and as many at equal steps between them as have room. */
function periodNames(px) {
  const last = time.periods.length - 1;
  const width = LETTER * Math.max(...time.periods.map((period) => period.length));
  const found = [{ t: 0, x: px(0), anchor: last === 0 ? "middle" : "start" }];
  if (last === 0 || px(last) - px(0) < 2 * width + GAP) return found;
  const [start, end] = [px(0) + width + GAP, px(last) - width - GAP];
  const between = (step) => {
    const places = [];
    for (let t = step; t < last; t += step) places.push(t);
    return places;
  };
  // All names at a step fit, or a larger step is taken; one that does not divide the whole may only end early.
  const fits = (places, step) =>
    places.every((t, i) => px(t) - width / 2 >= start && (i === 0 || px(t) - px(places[i - 1]) >= width + GAP)) &&
    (last % step === 0 ? places.every((t) => px(t) + width / 2 <= end) : true);
  const steps = Array.from({ length: last }, (_, i) => i + 1).filter((step) => fits(between(step), step));
  // The smallest step, or one that divides the whole if it names nearly as many.
  const smallest = steps[0];
  const chosen = steps.find((step) => last % step === 0 && step <= 2 * smallest) ?? smallest;
  const names = between(chosen).filter((t) => px(t) + width / 2 <= end);
  found.push(...names.map((t) => ({ t, x: px(t), anchor: "middle" })));
  found.push({ t: last, x: px(last), anchor: "end" });
  return found;
}

/**
 * The curve of a topic as an SVG.
 *
 * `most` is the end of the scale, `size` its width and height in units of the picture, `detailed` adds grid lines and dots.
 */
export function curve(series, { colour, most = highest(series), size = [260, 96], detailed = false, label }) {
  const [width, height] = size;
  const room = detailed ? { left: 46, right: 14, top: 10, bottom: 26 } : { left: 2, right: 2, top: 14, bottom: 18 };
  const [first, last] = [time.at[0], time.at[time.at.length - 1]];
  const across = width - room.left - room.right;
  const px = (t) => room.left + (last > first ? (time.at[t] - first) / (last - first) : 0.5) * across;
  const py = (value) => height - room.bottom - (value / most) * (height - room.top - room.bottom);
  const point = (t, value) => `${px(t).toFixed(1)},${py(value).toFixed(1)}`;
  const sheet = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", role: "img", "aria-label": label });
  const rule = (value, attributes) =>
    svg("line", {
      x1: room.left,
      x2: width - room.right,
      y1: py(value).toFixed(1),
      y2: py(value).toFixed(1),
      ...attributes,
    });
  if (detailed) {
    for (const value of ticks(0, most, false)) {
      sheet.append(
        rule(value, { class: "rule" }),
        svg("text", { x: room.left - 6, y: (py(value) + 4).toFixed(1), "text-anchor": "end" }, axisPercent(value)),
      );
    }
  } else {
    sheet.append(
      rule(0, { class: "rule" }),
      rule(most, { class: "rule" }),
      svg("text", { x: room.left, y: 10 }, percent(most)),
    );
  }
  for (const { t, x, anchor } of periodNames(px)) {
    const name = svg("text", { x: x.toFixed(1), y: height - room.bottom + 15, "text-anchor": anchor });
    name.textContent = time.periods[t];
    sheet.append(name);
  }
  for (const run of runs(series.low)) {
    const edge = [
      ...run.map((t) => point(t, series.high[t])),
      ...[...run].reverse().map((t) => point(t, series.low[t])),
    ];
    const band = svg("polygon", { points: edge.join(" "), class: "band" });
    band.style.setProperty("fill", colour);
    sheet.append(band);
  }
  for (const run of runs(series.prevalence)) {
    const line = svg("polyline", { points: run.map((t) => point(t, series.prevalence[t])).join(" "), class: "line" });
    line.style.setProperty("stroke", colour);
    const dots = detailed || run.length === 1 ? run : [];
    sheet.append(line, ...dots.map((t) => dot(px(t), py(series.prevalence[t]), colour)));
  }
  pointed(sheet, series, px, { width, top: room.top, bottom: height - room.bottom });
  return sheet;
}

/** The curve in full, drawn anew when its room changes, so that its letters are as large on a phone as elsewhere. */
export function roomyCurve(series, options) {
  const frame = el("div", { class: "curve-room" });
  const draw = () => {
    const width = Math.round(frame.getBoundingClientRect().width);
    if (width > 0) frame.replaceChildren(curve(series, { ...options, size: [width, 230], detailed: true }));
  };
  new ResizeObserver(draw).observe(frame);
  return frame;
}

function dot(x, y, colour) {
  const found = svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 2.6 });
  found.style.setProperty("fill", colour);
  return found;
}

/** Tell of the period nearest to the pointer. */
function pointed(sheet, series, px, { width, top, bottom }) {
  const line = svg("line", { class: "pointer", y1: top, y2: bottom });
  sheet.append(line);
  sheet.addEventListener("pointermove", (event) => {
    const frame = sheet.getBoundingClientRect();
    const x = ((event.clientX - frame.left) / frame.width) * width;
    const distances = time.at.map((_, t) => Math.abs(px(t) - x));
    const t = distances.indexOf(Math.min(...distances));
    line.setAttribute("x1", px(t).toFixed(1));
    line.setAttribute("x2", px(t).toFixed(1));
    sheet.classList.add("pointed");
    showTip(event.clientX, event.clientY, ...periodTip(series, t));
  });
  sheet.addEventListener("pointerleave", () => {
    sheet.classList.remove("pointed");
    hideTip();
  });
}
