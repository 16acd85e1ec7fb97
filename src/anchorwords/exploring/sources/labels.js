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

/**
 * Place labels around points.
 *
 * `points` come in the order of importance: {x, y, radius, text, width}. Returns {point, x, y, anchor} of those that found
 * a place within the frame, y being the middle of the letters.
 */
export function placeLabels(points, frame, height) {
  const taken = grid(60);
  for (const point of points) {
    const size = 2 * point.radius;
    taken.add({ x: point.x - point.radius, y: point.y - point.radius, width: size, height: size, self: point });
  }
  const placed = [];
  for (const point of points) {
    if (point.text === "") continue;
    const reach = point.radius + GAP;
    const { x, y, width } = point;
    // Above and below, labels of points at the edge move in as far as they must, as long as they stay at their point.
    const left = Math.min(Math.max(x - width / 2, 2, x - width), frame.width - width - 2, x);
    const places = [
      { x: left, y: y + reach, anchor: "middle" },
      { x: left, y: y - reach - height, anchor: "middle" },
      { x: x + reach, y: y - height / 2, anchor: "start" },
      { x: x - reach - width, y: y - height / 2, anchor: "end" },
      { x: x + 0.7 * reach, y: y + 0.7 * reach, anchor: "start" },
      { x: x + 0.7 * reach, y: y - 0.7 * reach - height, anchor: "start" },
      { x: x - 0.7 * reach - width, y: y + 0.7 * reach, anchor: "end" },
      { x: x - 0.7 * reach - width, y: y - 0.7 * reach - height, anchor: "end" },
    ];
    for (const place of places) {
      const box = { x: place.x, y: place.y, width, height, self: point };
      const inside = box.x >= 2 && box.y >= 2 && box.x + width <= frame.width - 2 && box.y + height <= frame.height - 2;
      if (!inside || !taken.free(box, point)) continue;
      taken.add({ ...box, self: null });
      const at = { start: box.x, middle: box.x + width / 2, end: box.x + width }[place.anchor];
      placed.push({ point, x: at, y: box.y + height / 2, anchor: place.anchor });
      break;
    }
  }
  return placed;
}
