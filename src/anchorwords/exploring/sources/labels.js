// Labels that do not cover each other: the most important first, each in the best free place or not at all.

const GAP = 3;

function overlap(a, b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** Boxes in a grid, so that a new one is compared with those near it only. */
function grid(size) {
  const cells = new Map();
  const each = (box, visit) => {
    for (let i = Math.floor(box.x / size); i <= Math.floor((box.x + box.width) / size); i++) {
      for (let j = Math.floor(box.y / size); j <= Math.floor((box.y + box.height) / size); j++) visit(`${i},${j}`);
    }
  };
  return {
    add(box) {
      each(box, (key) => cells.set(key, [...(cells.get(key) ?? []), box]));
    },
    free(box, self) {
      let clear = true;
      each(box, (key) => {
        clear &&= !(cells.get(key) ?? []).some((other) => other.self !== self && overlap(box, other));
      });
      return clear;
    },
  };
}

/** Distance from a box to the rim of a circle; below 0 where they overlap. */
function away(box, { x, y, radius }) {
  const dx = Math.max(box.x - x, 0, x - box.x - box.width);
  const dy = Math.max(box.y - y, 0, y - box.y - box.height);
  return Math.hypot(dx, dy) - radius;
}

/** Places around a point for a label of a width: below and above, beside, at the corners. */
function placesAround({ x, y, radius }, width, height, frame) {
  const reach = radius + GAP;
  const near = 0.7 * reach;
  // Above and below, labels of points at the edge move in as far as they must, as long as they stay at their point.
  const left = Math.min(Math.max(x - width / 2, 2, x - width), frame.width - width - 2, x);
  return [
    { x: left, y: y + reach, anchor: "middle" },
    { x: left, y: y - reach - height, anchor: "middle" },
    { x: x + reach, y: y - height / 2, anchor: "start" },
    { x: x - reach - width, y: y - height / 2, anchor: "end" },
    { x: x + near, y: y + near, anchor: "start" },
    { x: x + near, y: y - near - height, anchor: "start" },
    { x: x - near - width, y: y + near, anchor: "end" },
    { x: x - near - width, y: y - near - height, anchor: "end" },
  ];
}

/**
 * Place labels around points.
 *
 * `points` come in the order of importance: {x, y, radius, names}, names being [{text, width}], the one that is liked best
 * first. With `own`, a label must be nearer to its own point than to any other by at least so many pixels; one that has no
 * such place is left out rather than taken for the name of a neighbour. Returns {point, text, x, y, anchor} of those that found a place within the frame, y being the middle of the letters.
 */
export function placeLabels(points, frame, height, own = null) {
  const taken = grid(60);
  for (const point of points) {
    const size = 2 * point.radius;
    taken.add({ x: point.x - point.radius, y: point.y - point.radius, width: size, height: size, self: point });
  }
  const belongs = (point, box) => {
    const reach = away(box, point) + own;
    return points.every((other) => other === point || away(box, other) > reach);
  };
  const free = (point, { x, y }, width) => {
    const inside = x >= 2 && y >= 2 && x + width <= frame.width - 2 && y + height <= frame.height - 2;
    const box = { x, y, width, height };
    return inside && taken.free(box, point) && (own === null || belongs(point, box));
  };
  const placed = [];
  for (const point of points) {
    for (const { text, width } of point.names) {
      const place = placesAround(point, width, height, frame).find((found) => free(point, found, width));
      if (place === undefined) continue;
      taken.add({ x: place.x, y: place.y, width, height, self: null });
      const at = { start: place.x, middle: place.x + width / 2, end: place.x + width }[place.anchor];
      placed.push({ point, text, x: at, y: place.y + height / 2, anchor: place.anchor });
      break;
    }
  }
  return placed;
}
