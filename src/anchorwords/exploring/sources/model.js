// The model as a whole: sizes, how it came about, how good it is and what that means.

import { page, topics } from "./data.js";
import { card, el, userText } from "./dom.js";
import { plain, whole } from "./format.js";
import { lineChart } from "./lines.js";

const DIRECTION = { higher: "higher is better", lower: "lower is better", "": "no better end" };
const ARROW = { higher: "↑", lower: "↓", "": "" };

function shown(value) {
  return typeof value === "number" ? whole(value) : value;
}

function factsCard() {
  return card(
    "What it is",
    { class: "facts-card" },
    el(
      "dl",
      { class: "facts" },
      ...page.model.facts.map(({ name, value, note }) =>
        el(
          "div",
          {},
          el("dt", {}, name),
          el(
            "dd",
            {},
            el("span", { class: typeof value === "number" ? "stat-value" : "stat-value stat-text" }, shown(value)),
            el("span", { class: "stat-note" }, note),
          ),
        ),
      ),
    ),
  );
}

function convergenceCard() {
  const course = page.model.convergence;
  if (course === null) {
    const plainly = page.model.parameters.some(({ name, value }) => name === "rectifier" && value === "None");
    const why = plainly
      ? "This model was not rectified."
      : "The steps of the rectification were not kept with this model.";
    return card("How it converged", {}, el("p", { class: "note" }, why));
  }
  const steps = course.steps[course.steps.length - 1];
  const end = course.converged
    ? `met its tolerance after ${whole(steps)} steps`
    : `was stopped after ${whole(steps)} steps`;
  return card(
    "How it converged",
    {
      note: `${course.method || "The rectification"} pulls the counted co-occurrence onto the model's own geometry, and ${end}${course.tol ? ` (dashed: ${plain(course.tol)})` : ""}.`,
    },
    lineChart({
      x: course.steps,
      y: course.violation,
      logarithmic: true,
      xTitle: "step",
      yTitle: "violation",
      goal: course.tol,
      label: `Violation of the model's constraints by step, ending at ${plain(course.violation[course.violation.length - 1])}`,
    }),
  );
}

function likelihoodCard() {
  const values = page.model.log_likelihood;
  if (values === null || values.length < 2) return null;
  return card(
    "How refinement went",
    {
      note: "Log-likelihood of a word in each sweep over the documents: higher is better, and the end should be level. Dips are where topics were taken out and others split.",
    },
    lineChart({
      x: values.map((_, i) => i + 1),
      y: values,
      xTitle: "sweep",
      yTitle: "log-likelihood",
      label: `Log-likelihood by sweep, ending at ${plain(values[values.length - 1])}`,
    }),
  );
}

function metricsCard() {
  const rows = page.model.metrics.map((metric) =>
    el(
      "tr",
      { "data-metric": metric.name },
      el("th", { scope: "row" }, metric.title),
      el(
        "td",
        { class: "c-value" },
        metric.value === null ? "–" : plain(metric.value),
        metric.standard_error === null ? null : el("span", { class: "muted" }, ` ± ${plain(metric.standard_error)}`),
      ),
      el(
        "td",
        { class: "c-direction" },
        el("span", { "aria-hidden": "true" }, `${ARROW[metric.better]} `),
        DIRECTION[metric.better],
      ),
      el(
        "td",
        { class: "c-reading" },
        metric.undefined || metric.reading,
        el(
          "details",
          {},
          el("summary", {}, "formula"),
          el("p", { class: "note" }, `${metric.formula}. Measured on: ${metric.measured_on}.`),
        ),
      ),
    ),
  );
  return card(
    "How good it is",
    { class: "metrics-card", note: "Metrics compare models of the same documents; few mean much alone." },
    el(
      "div",
      { class: "table-room", tabindex: 0, role: "region", "aria-label": "Table of metrics" },
      el(
        "table",
        { class: "metrics" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ...["Metric", "Value", "Direction", "How to read it"].map((title) => el("th", { scope: "col" }, title)),
          ),
        ),
        el("tbody", {}, ...rows),
      ),
    ),
  );
}

function parametersCard() {
  if (page.model.parameters.length === 0) return null;
  return card(
    "Parameters",
    { class: "parameters-card" },
    el(
      "dl",
      { class: "parameters" },
      ...page.model.parameters.flatMap(({ name, value }) => [el("dt", {}, name), el("dd", {}, userText(value))]),
    ),
  );
}

function sureCard() {
  if (topics.some((topic) => typeof topic.stability === "number")) return null;
  return card(
    "How sure it is",
    {},
    el(
      "p",
      { class: "note" },
      "Stability was not measured for this model. anchorwords fit --replicates 20, or measure_stability in Python, adds error bars to this page.",
    ),
  );
}

/** The view of the model. */
export function modelView() {
  return [
    el("h1", {}, "The model"),
    factsCard(),
    el("div", { class: "model-grid" }, convergenceCard(), likelihoodCard(), sureCard(), parametersCard()),
    metricsCard(),
  ];
}
