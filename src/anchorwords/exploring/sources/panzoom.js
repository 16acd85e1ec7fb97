// Pan and zoom of a picture by pointer, wheel, pinch and keyboard; the picture draws itself from {scale, x, y}.

const MOST = 60;

/**
 * Let an element be moved and zoomed. A point p of the picture is shown at p * scale + (x, y).
 *
 * `redraw` is called after each change, `wheel` says whether the wheel zooms by itself or only with Ctrl (as pinches on a
 * touch pad come), so that a page under it can still be scrolled.
 */
export function panzoom(element, { redraw, wheel = "always" }) {
  const view = { scale: 1, x: 0, y: 0 };
  const pointers = new Map();
  let moved = 0;

  const zoomAt = (factor, px, py) => {
    const scale = Math.min(Math.max(view.scale * factor, 1), MOST);
    const ratio = scale / view.scale;
    view.x = px - (px - view.x) * ratio;
    view.y = py - (py - view.y) * ratio;
    view.scale = scale;
    changed();
  };
  const changed = () => {
    // The picture never leaves its frame: at scale 1 it fills it.
    const { width, height } = element.getBoundingClientRect();
    view.x = Math.min(0, Math.max(view.x, width * (1 - view.scale)));
    view.y = Math.min(0, Math.max(view.y, height * (1 - view.scale)));
    // Where there is nothing to move a finger scrolls the page.
    element.style.setProperty("touch-action", view.scale > 1 ? "none" : "pan-y");
    redraw();
  };
  const local = (event) => {
    const frame = element.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };

  element.addEventListener(
    "wheel",
    (event) => {
      if (wheel !== "always" && !event.ctrlKey) return;
      event.preventDefault();
      zoomAt(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.002)), ...local(event));
    },
    { passive: false },
  );
  element.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, local(event));
    moved = 0;
  });
  element.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = local(event);
    const distance = pointers.size === 2 ? spread() : 0;
    pointers.set(event.pointerId, now);
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (moved > 4 && !element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()];
      zoomAt(spread() / Math.max(distance, 1), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
    } else if (view.scale > 1) {
      view.x += now[0] - before[0];
      view.y += now[1] - before[1];
      changed();
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    element.addEventListener(end, (event) => pointers.delete(event.pointerId));
  }

  const middle = (factor) => {
    const { width, height } = element.getBoundingClientRect();
    zoomAt(factor, width / 2, height / 2);
  };
  return {
    view,
    /** Whether the last press was a drag, not a click. */
    dragged: () => moved > 4,
    zoomIn: () => middle(1.6),
    zoomOut: () => middle(1 / 1.6),
    reset: () => {
      Object.assign(view, { scale: 1, x: 0, y: 0 });
      changed();
    },
    move: (dx, dy) => {
      view.x += dx;
      view.y += dy;
      changed();
    },
    /** Fill the frame with a part of the picture as it is at scale 1. */
    fit: (left, top, right, bottom) => {
      const { width, height } = element.getBoundingClientRect();
      const scale = Math.min(Math.max(Math.min(width / (right - left), height / (bottom - top)), 1), MOST);
      const offset = (low, high, room) => room / 2 - (scale * (low + high)) / 2;
      Object.assign(view, { scale, x: offset(left, right, width), y: offset(top, bottom, height) });
      changed();
    },
    /** Keep within the frame after its size has changed. */
    settle: changed,
  };
}
