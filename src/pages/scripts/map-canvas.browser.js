// Draws many points on a canvas: pixel by pixel into one picture, so that a frame makes no object and needs
// no graphics processor. What the points are is the business of map.browser.js.

/** The nearest that the points can be looked at, beside all of them at once. */
const MOST_ZOOM = 40;
/** Room around all points, as a share of the canvas. */
const MARGIN = 0.06;
/** In the place of the number of a colour. */
const HIDDEN = 255;
/** How much a point covers what is below it, 0 to 256, and one that stands back. */
const [CLEAR, FAINT] = [225, 40];

/** A round spot as numbers from 0 to 256, how much each pixel has of it. */
function spotOf(radius) {
  const half = Math.ceil(radius + 0.5);
  const side = 2 * half + 1;
  const shares = new Uint16Array(side * side);
  for (let y = -half; y <= half; y++) {
    for (let x = -half; x <= half; x++) {
      const share = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(x, y)));
      shares[(y + half) * side + x + half] = Math.round(share * 256);
    }
  }
  return { half, side, shares };
}

/** A colour of the stylesheet as a number whose bytes are red, green, blue and opacity. */
function pixelOf(colour) {
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0];
}

/** What paints points into the pixels of a canvas. */
function createPainter(context) {
  let palette = new Uint32Array(0);
  let background = 0;
  let picture = null;
  let pixels = new Uint32Array(0);
  let [spot, spotRadius] = [spotOf(3), 0];

  /** @param most how much of it covers what is below, 0 to 256 */
  const paintSpot = (left, top, colour, most) => {
    const { side, shares } = spot;
    const fromX = Math.max(0, -left);
    const toX = Math.min(side, picture.width - left);
    const toY = Math.min(side, picture.height - top);
    const red = colour & 255;
    const green = (colour >> 8) & 255;
    const blue = (colour >> 16) & 255;
    for (let y = Math.max(0, -top); y < toY; y++) {
      let at = (top + y) * picture.width + left + fromX;
      for (let x = fromX; x < toX; x++, at++) {
        const share = (shares[y * side + x] * most) >> 8;
        if (share === 0) continue;
        const below = pixels[at];
        const r = (below & 255) + (((red - (below & 255)) * share) >> 8);
        const g = ((below >> 8) & 255) + (((green - ((below >> 8) & 255)) * share) >> 8);
        const b = ((below >> 16) & 255) + (((blue - ((below >> 16) & 255)) * share) >> 8);
        pixels[at] = (255 << 24) | (b << 16) | (g << 8) | r;
      }
    }
  };

  return {
    setColours(below, all) {
      background = pixelOf(below);
      palette = Uint32Array.from(all, pixelOf);
    },

    resize(width, height) {
      picture = context.createImageData(width, height);
      pixels = new Uint32Array(picture.data.buffer);
    },

    /** All in pixels of the canvas. */
    paint({ places, colours, isFaint }, scale, left, top, radius) {
      if (radius !== spotRadius) [spot, spotRadius] = [spotOf(radius), radius];
      pixels.fill(background);
      // Those that stand back come first.
      for (let layer = 1; layer >= 0; layer--) {
        const most = layer === 1 ? FAINT : CLEAR;
        for (let point = 0; point < colours.length; point++) {
          if (colours[point] === HIDDEN || isFaint[point] !== layer) continue;
          const x = (places[2 * point] * scale + left - spot.half) | 0;
          const y = (places[2 * point + 1] * scale + top - spot.half) | 0;
          const isOutside =
            x + spot.side < 0 || y + spot.side < 0 || x >= picture.width || y >= picture.height;
          if (!isOutside) paintSpot(x, y, palette[colours[point]], most);
        }
      }
      context.putImageData(picture, 0, 0);
    },
  };
}

/**
 * Points that can be moved and zoomed.
 * @param places x and y of each, 0 to 1
 * @param drawAbove draws on the context above the points, in pixels of the screen
 */
window.createMapCanvas = (canvas, { places, drawAbove }) => {
  const context = canvas.getContext("2d", { alpha: false });
  const painter = createPainter(context);
  const count = places.length / 2;
  /** For each point the number of its colour, or `HIDDEN`, and whether it stands back. */
  const [colours, isFaint] = [new Uint8Array(count), new Uint8Array(count)];
  /** What x and y are multiplied with, and where 0 is, in pixels of the screen. */
  const points = { places, colours, isFaint };
  const view = { scale: 1, left: 0, top: 0 };
  const size = { width: 0, height: 0 };
  /** The scale at which all is in sight; pixels of the canvas in one of the screen. */
  let [whole, ratio, isDue] = [1, 1, false];

  const radiusNow = () => {
    const base = count > 3000 ? 2.2 : count > 500 ? 3 : count > 50 ? 4.5 : 6;
    return Math.min(9, base * (view.scale / whole) ** 0.4);
  };

  const draw = () => {
    isDue = false;
    if (size.width === 0) return;
    const radius = Math.round(radiusNow() * ratio * 4) / 4;
    const { scale, left, top } = view;
    painter.paint(points, scale * ratio, left * ratio, top * ratio, radius);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawAbove(context);
  };

  const redraw = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(draw);
  };

  /** Keeps some of the points in sight. */
  const keepInSight = () => {
    view.scale = Math.min(MOST_ZOOM * whole, Math.max(whole * 0.8, view.scale));
    view.left = Math.min(size.width * 0.8, Math.max(size.width * 0.2 - view.scale, view.left));
    view.top = Math.min(size.height * 0.8, Math.max(size.height * 0.2 - view.scale, view.top));
  };

  const showAll = () => {
    whole = Math.min(size.width, size.height) * (1 - 2 * MARGIN);
    view.scale = whole;
    view.left = (size.width - whole) / 2;
    view.top = (size.height - whole) / 2;
    redraw();
  };

  return {
    colours,
    isFaint,
    view,
    redraw,
    showAll,
    radius: radiusNow,

    setColours(below, all) {
      painter.setColours(below, all);
      redraw();
    },

    /** Takes the size that the page gives it; what is in its middle stays there. */
    resize() {
      const isFirst = size.width === 0;
      const before = {
        x: (size.width / 2 - view.left) / view.scale,
        y: (size.height / 2 - view.top) / view.scale,
      };
      const zoom = view.scale / whole;
      size.width = canvas.clientWidth;
      size.height = canvas.clientHeight;
      ratio = Math.min(2, devicePixelRatio);
      if (size.width === 0 || size.height === 0) return;
      canvas.width = Math.round(size.width * ratio);
      canvas.height = Math.round(size.height * ratio);
      painter.resize(canvas.width, canvas.height);
      showAll();
      if (isFirst) return;
      view.scale = whole * zoom;
      view.left = size.width / 2 - before.x * view.scale;
      view.top = size.height / 2 - before.y * view.scale;
      keepInSight();
    },

    move(right, down) {
      view.left += right;
      view.top += down;
      keepInSight();
      redraw();
    },

    /** Zooms by a factor around a place of the canvas, its middle without one. */
    zoom(factor, x = size.width / 2, y = size.height / 2) {
      const before = view.scale;
      view.scale = Math.min(MOST_ZOOM * whole, Math.max(whole * 0.8, before * factor));
      const real = view.scale / before;
      view.left = x - (x - view.left) * real;
      view.top = y - (y - view.top) * real;
      keepInSight();
      redraw();
    },

    /** Puts a place of the map into the middle, so many times as large as all of it. */
    show(x, y, times) {
      view.scale = whole * times;
      view.left = size.width / 2 - x * view.scale;
      view.top = size.height / 2 - y * view.scale;
      keepInSight();
      redraw();
    },

    /** The visible point nearest to a place of the canvas, at most so many pixels away; −1 for none. */
    nearest(x, y, most) {
      let [best, least] = [-1, most * most];
      for (let point = 0; point < count; point++) {
        if (colours[point] === HIDDEN) continue;
        const right = places[2 * point] * view.scale + view.left - x;
        const down = places[2 * point + 1] * view.scale + view.top - y;
        const square = right * right + down * down;
        if (square <= least) [best, least] = [point, square];
      }
      return best;
    },

    /** Visible points on the canvas, those nearest to a place first. */
    around(x, y, most) {
      const found = [];
      for (let point = 0; point < count; point++) {
        if (colours[point] === HIDDEN) continue;
        const right = places[2 * point] * view.scale + view.left;
        const down = places[2 * point + 1] * view.scale + view.top;
        if (right < 0 || down < 0 || right > size.width || down > size.height) continue;
        found.push([(right - x) ** 2 + (down - y) ** 2, point]);
      }
      found.sort((a, b) => a[0] - b[0]);
      return found.slice(0, most).map(([, point]) => point);
    },

    /** Where a point is on the canvas. */
    placeOf: (point) => ({
      x: places[2 * point] * view.scale + view.left,
      y: places[2 * point + 1] * view.scale + view.top,
    }),

    size,
  };
};
