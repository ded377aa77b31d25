// The pointers on the map.

/** Pixels beside a point that still count as the point. */
const POINT_TOLERANCE = 8;
/** Pixels that a pointer may move during a click. */
const CLICK_TOLERANCE = 4;
/** Milliseconds that a pointer must rest on a point before its text is shown. */
const REST_MS = 50;

/**
 * Handles pointers on the canvas. Resting on a point shows its text, dragging moves the map, and two fingers or the
 * wheel zoom. A click opens the memory; a touch shows its text, with a link.
 */
function handlePointers(canvas, { map, changeView, choose, open }) {
  const down = new Map();
  let [travelled, restTimer] = [0, 0];
  const locationIn = (event) => ({ x: event.offsetX, y: event.offsetY });
  const distance = () => {
    const [a, b] = [...down.values()];
    return { far: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  };
  const pointAt = ({ x, y }) => map.nearest(x, y, map.radius() + POINT_TOLERANCE);

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (down.size === 0) travelled = 0;
    down.set(event.pointerId, locationIn(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    const now = locationIn(event);
    if (!before) {
      clearTimeout(restTimer);
      const point = pointAt(now);
      canvas.classList.toggle("pointed", point >= 0);
      if (point < 0) choose(-1);
      else restTimer = setTimeout(() => choose(point), REST_MS);
      return;
    }
    const [right, below] = [now.x - before.x, now.y - before.y];
    travelled += Math.abs(right) + Math.abs(below);
    const start = down.size === 2 ? distance() : null;
    down.set(event.pointerId, now);
    if (travelled <= CLICK_TOLERANCE) return;
    if (start === null) return changeView(() => map.move(right, below));
    const end = distance();
    changeView(() => map.zoom(end.far / Math.max(1, start.far), end.x, end.y));
  });
  const released = (event) => {
    if (!down.delete(event.pointerId) || event.type !== "pointerup" || travelled > CLICK_TOLERANCE)
      return;
    clearTimeout(restTimer);
    const point = pointAt(locationIn(event));
    const isTouch = event.pointerType !== "mouse";
    choose(point, isTouch && point >= 0);
    if (!isTouch) open(event);
  };
  canvas.addEventListener("pointerup", released);
  canvas.addEventListener("pointercancel", released);
  canvas.addEventListener("pointerleave", (event) => {
    clearTimeout(restTimer);
    // Lifting a finger fires this event too.
    if (event.pointerType === "mouse") choose(-1);
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { x, y } = locationIn(event);
      const lines = event.deltaMode === 1 ? 16 : 1;
      changeView(() => map.zoom(Math.exp(-0.002 * lines * event.deltaY), x, y));
    },
    { passive: false },
  );
}
