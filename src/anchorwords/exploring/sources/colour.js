// Colours of topics, the same in every view, told apart by readers of every kind of colour vision.

import { topics } from "./data.js";

// Okabe and Ito's, without black and the yellow that is pale on white.
const HUES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1"];
// Cividis, from low to high: the same order in grey.
const RAMP = ["#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838"];

/** A colour for each topic, so that topics near each other on the map differ. */
function assigned() {
  const colours = new Array(topics.length).fill(-1);
  const order = [...topics].sort((a, b) => a.rank - b.rank);
  for (const topic of order) {
    const cost = HUES.map((_, hue) =>
      topics.reduce((sum, other) => {
        if (colours[other.position] !== hue) return sum;
        const dx = topic.place[0] - other.place[0];
        const dy = topic.place[1] - other.place[1];
        return sum + 1 / (dx * dx + dy * dy + 1e-4);
      }, 0),
    );
    colours[topic.position] = cost.indexOf(Math.min(...cost));
  }
  return colours;
}

const hues = assigned();

/** The colour of a topic. */
export function colourOf(topic) {
  return HUES[hues[topic.position]];
}

/** A colour between dark and light for a share from 0 to 1. */
export function shade(share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const i = Math.min(Math.floor(at), RAMP.length - 2);
  const part = (hex, k) => Number.parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
  const mixed = [0, 1, 2].map((k) => Math.round(part(RAMP[i], k) * (1 - at + i) + part(RAMP[i + 1], k) * (at - i)));
  return `rgb(${mixed.join(",")})`;
}

/** Black or white, whichever is easier to read on a colour. */
export function inkOn(colour) {
  const parts = colour.startsWith("#")
    ? [1, 3, 5].map((i) => Number.parseInt(colour.slice(i, i + 2), 16))
    : colour.match(/\d+/g).map(Number);
  const [r, g, b] = parts.map((value) => {
    const c = value / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

/** A setting of the style sheet, for what is drawn on a canvas. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
