// Paints the points of the map pixel by pixel into one picture. A frame allocates no objects and needs no graphics
// processor.

/** The colour number of hidden points. */
const HIDDEN = 255;
/** How much a point covers the points below it, 0 to 256; and the same for a faint point. */
const [OPACITY, FAINT_OPACITY] = [225, 40];

/** A round spot: for each pixel of a square, how much of it the spot covers, 0 to 256. */
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

/** Converts a CSS colour to a pixel: a number whose bytes are red, green, blue and opacity. */
function pixelOf(colour) {
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0];
}

/** Paints points into the pixels of a canvas. */
function createPainter(context) {
  let palette = new Uint32Array(0);
  let backgroundPixel = 0;
  let picture = null;
  let pixels = new Uint32Array(0);
  let [spot, spotRadius] = [spotOf(3), 0];

  /** @param opacity 0 to 256 */
  const paintSpot = (left, top, colour, opacity) => {
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
        const share = (shares[y * side + x] * opacity) >> 8;
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
    setColours(background, hues) {
      backgroundPixel = pixelOf(background);
      palette = Uint32Array.from(hues, pixelOf);
    },

    resize(width, height) {
      picture = context.createImageData(width, height);
      pixels = new Uint32Array(picture.data.buffer);
    },

    /** Paints all points. Lengths are in pixels of the canvas. */
    paint({ places, colours, isFaint }, scale, left, top, radius) {
      if (radius !== spotRadius) [spot, spotRadius] = [spotOf(radius), radius];
      pixels.fill(backgroundPixel);
      // Faint points are painted first, below the others.
      for (let layer = 1; layer >= 0; layer--) {
        const opacity = layer === 1 ? FAINT_OPACITY : OPACITY;
        for (let point = 0; point < colours.length; point++) {
          if (colours[point] === HIDDEN || isFaint[point] !== layer) continue;
          const x = (places[2 * point] * scale + left - spot.half) | 0;
          const y = (places[2 * point + 1] * scale + top - spot.half) | 0;
          const isOutside =
            x + spot.side < 0 || y + spot.side < 0 || x >= picture.width || y >= picture.height;
          if (!isOutside) paintSpot(x, y, palette[colours[point]], opacity);
        }
      }
      context.putImageData(picture, 0, 0);
    },
  };
}
