// The canvas of the map: draws the points that the view shows, and finds points at a place.

/** The radius of a point in CSS pixels, when all points are visible. */
function baseRadius(count) {
  if (count > 3000) return 2.2;
  if (count > 500) return 3;
  return count > 50 ? 4.5 : 6;
}

const MAX_RADIUS = 9;

/**
 * A canvas with points that can be moved and zoomed.
 * @param places x and y of each point, 0 to 1
 * @param drawAbove draws on the context above the points, in CSS pixels
 */
function createMapCanvas(canvas, { places, drawAbove }) {
  const context = canvas.getContext("2d", { alpha: false });
  const painter = createPainter(context);
  const shown = createMapView();
  const { view, size } = shown;
  const count = places.length / 2;
  /** For each point, the number of its colour or `HIDDEN`, and whether it is faint. */
  const [colours, isFaint] = [new Uint8Array(count), new Uint8Array(count)];
  const points = { places, colours, isFaint };
  /** Pixels of the canvas in one CSS pixel. */
  let ratio = 1;
  let isDrawPending = false;

  const radius = () => Math.min(MAX_RADIUS, baseRadius(count) * shown.zoomLevel() ** 0.4);

  const draw = () => {
    isDrawPending = false;
    if (size.width === 0) return;
    const rounded = Math.round(radius() * ratio * 4) / 4;
    painter.paint(points, view.scale * ratio, view.left * ratio, view.top * ratio, rounded);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawAbove(context);
  };

  const redraw = () => {
    if (isDrawPending) return;
    isDrawPending = true;
    requestAnimationFrame(draw);
  };

  const thenRedraw =
    (change) =>
    (...values) => {
      change(...values);
      redraw();
    };

  const placeOf = (point) => shown.onCanvas(places[2 * point], places[2 * point + 1]);

  return {
    colours,
    isFaint,
    view,
    size,
    radius,
    redraw,
    placeOf,
    showAll: thenRedraw(shown.showAll),
    move: thenRedraw(shown.move),
    zoom: thenRedraw(shown.zoom),
    show: thenRedraw(shown.show),
    setColours: thenRedraw(painter.setColours),

    /** Takes the size that the page gives the canvas. */
    resize() {
      const { clientWidth: width, clientHeight: height } = canvas;
      ratio = Math.min(2, devicePixelRatio);
      shown.resize(width, height);
      if (width === 0 || height === 0) return;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      painter.resize(canvas.width, canvas.height);
      redraw();
    },

    /** The visible point nearest to a place of the canvas, at most `limit` pixels away; −1 for none. */
    nearest(x, y, limit) {
      let [best, least] = [-1, limit * limit];
      for (let point = 0; point < count; point++) {
        if (colours[point] === HIDDEN) continue;
        const right = places[2 * point] * view.scale + view.left - x;
        const down = places[2 * point + 1] * view.scale + view.top - y;
        const square = right * right + down * down;
        if (square <= least) [best, least] = [point, square];
      }
      return best;
    },

    /** The visible points on the canvas, nearest to a place first; at most `limit`. */
    around(x, y, limit) {
      const found = [];
      for (let point = 0; point < count; point++) {
        if (colours[point] === HIDDEN) continue;
        const right = places[2 * point] * view.scale + view.left;
        const down = places[2 * point + 1] * view.scale + view.top;
        if (right < 0 || down < 0 || right > size.width || down > size.height) continue;
        found.push([(right - x) ** 2 + (down - y) ** 2, point]);
      }
      found.sort((a, b) => a[0] - b[0]);
      return found.slice(0, limit).map(([, point]) => point);
    },
  };
}
