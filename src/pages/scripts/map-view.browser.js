// The part of the map that the canvas shows.

/** The greatest zoom, as a multiple of the scale at which all points are visible. */
const MAX_ZOOM = 40;
const MIN_ZOOM = 0.8;
/** The margin around all points, as a share of the canvas. */
const MARGIN = 0.06;

/** Places on the map are from 0 to 1. The scale and offsets convert them to CSS pixels of the canvas. */
function createMapView() {
  const view = { scale: 1, left: 0, top: 0 };
  const size = { width: 0, height: 0 };
  /** The scale at which all points are visible. */
  let fullScale = 1;

  const limitScale = (scale) =>
    Math.min(MAX_ZOOM * fullScale, Math.max(MIN_ZOOM * fullScale, scale));

  /** Keeps a part of the map visible. */
  const keepVisible = () => {
    view.scale = limitScale(view.scale);
    view.left = Math.min(size.width * 0.8, Math.max(size.width * 0.2 - view.scale, view.left));
    view.top = Math.min(size.height * 0.8, Math.max(size.height * 0.2 - view.scale, view.top));
  };

  /** Shows a place of the map in the middle of the canvas. */
  const centre = (x, y, scale) => {
    view.scale = scale;
    view.left = size.width / 2 - x * scale;
    view.top = size.height / 2 - y * scale;
  };

  const showAll = () => {
    fullScale = Math.min(size.width, size.height) * (1 - 2 * MARGIN);
    centre(0.5, 0.5, fullScale);
  };

  return {
    view,
    size,
    showAll,
    zoomLevel: () => view.scale / fullScale,

    /** Takes a new size of the canvas. The place in the middle and the zoom stay. */
    resize(width, height) {
      const isFirst = size.width === 0;
      const x = (size.width / 2 - view.left) / view.scale;
      const y = (size.height / 2 - view.top) / view.scale;
      const zoom = view.scale / fullScale;
      size.width = width;
      size.height = height;
      if (width === 0 || height === 0) return;
      showAll();
      if (isFirst) return;
      centre(x, y, fullScale * zoom);
      keepVisible();
    },

    move(right, down) {
      view.left += right;
      view.top += down;
      keepVisible();
    },

    /** Zooms by a factor around a place of the canvas; by default its middle. */
    zoom(factor, x = size.width / 2, y = size.height / 2) {
      const before = view.scale;
      view.scale = limitScale(before * factor);
      const change = view.scale / before;
      view.left = x - (x - view.left) * change;
      view.top = y - (y - view.top) * change;
      keepVisible();
    },

    /** Shows a place of the map in the middle, at a multiple of the full scale. */
    show(x, y, zoom) {
      centre(x, y, fullScale * zoom);
      keepVisible();
    },

    /** The place on the canvas of a place of the map. */
    onCanvas: (x, y) => ({ x: x * view.scale + view.left, y: y * view.scale + view.top }),
  };
}
