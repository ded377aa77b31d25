// The map of memories: loads the data and connects the canvas, the keys, the legend and the topics. Without scripts,
// the lists of the page have the same information.

/** Number of colours: eight for groups, one for all other groups, one for memories without a group. */
const HUES = 10;
/** Pixels that an arrow key moves the map. */
const ARROW_STEP = 60;
const ZOOM_STEP = 1.5;
/** The zoom at which a topic is shown. */
const TOPIC_ZOOM = 3.5;
/** Texts of points around the chosen one that are fetched with it. */
const PREFETCHED = 40;
/** Memories that the keys go through, from the middle outward. */
const MAX_KEY_POINTS = 500;
const ID_BYTES = 16;

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

const numbersOf = (base64) => new Uint16Array(bytesOf(base64).buffer);

/** The colours and font of the stylesheet, in the current colour scheme. */
function readColours(stage) {
  const probe = document.createElement("span");
  stage.append(probe);
  const hues = Array.from({ length: HUES }, (_, bit) => {
    probe.className = `hue-${bit + 1}`;
    return getComputedStyle(probe).backgroundColor;
  });
  probe.remove();
  const { color, backgroundColor, fontFamily } = getComputedStyle(stage);
  return { hues, text: color, background: backgroundColor, font: `500 12px ${fontFamily}` };
}

function startCanvas(root, data) {
  const stage = root.querySelector(".map-stage");
  const canvas = stage.querySelector("canvas");
  const ids = bytesOf(data.ids);
  const masks = numbersOf(data.masks[root.dataset.by]);
  const topicOf = bytesOf(data.topicOf);
  const places = Float32Array.from(numbersOf(data.places), (place) => place / 65535);
  const labels = createLabels(data.topics, places);
  const texts = createTexts(root.dataset.texts);
  const tip = createTip(stage.querySelector(".map-tip"), texts);
  let look = readColours(stage);
  let enabled = (1 << HUES) - 1;
  let chosen = -1;
  /** The points that the keys go through, and the position in them. */
  let keyPoints = { points: [], at: -1 };

  const idOf = (point) => {
    const own = ids.subarray(point * ID_BYTES, (point + 1) * ID_BYTES);
    return `mem_${Array.from(own, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  };

  const map = createMapCanvas(canvas, {
    places,
    drawAbove(context) {
      labels(context, { view: map.view, size: map.size, look });
      if (chosen < 0) return;
      const { x, y } = map.placeOf(chosen);
      context.lineWidth = 2;
      context.strokeStyle = look.text;
      context.beginPath();
      context.arc(x, y, map.radius() + 3, 0, 2 * Math.PI);
      context.stroke();
    },
  });

  const recolour = () => {
    for (let point = 0; point < masks.length; point++) {
      const bits = masks[point] & enabled;
      map.colours[point] = bits === 0 ? HIDDEN : 31 - Math.clz32(bits & -bits);
    }
    map.redraw();
  };

  /** Makes all points faint except some; without a condition, none are faint. */
  const highlight = (isIncluded) => {
    for (let point = 0; point < masks.length; point++) {
      map.isFaint[point] = isIncluded && !isIncluded(point) ? 1 : 0;
    }
    map.redraw();
  };

  const choose = (point, isFixed) => {
    if (point === chosen && !isFixed) return;
    chosen = point;
    map.redraw();
    if (point < 0) return tip.hide();
    const place = map.placeOf(point);
    const around = () => map.around(place.x, place.y, PREFETCHED).concat(point).map(idOf);
    tip.show(idOf(point), around, place, map.size, isFixed);
  };

  const changeView = (change) => {
    keyPoints = { points: [], at: -1 };
    choose(-1);
    change();
  };

  const step = (by) => {
    if (keyPoints.points.length === 0) {
      const { width, height } = map.size;
      keyPoints.points = map.around(width / 2, height / 2, MAX_KEY_POINTS);
    }
    keyPoints.at = Math.min(keyPoints.points.length - 1, Math.max(0, keyPoints.at + by));
    if (keyPoints.points.length > 0) choose(keyPoints.points[keyPoints.at], true);
  };

  const open = (event) => {
    if (chosen < 0) return;
    const path = `/memories/${idOf(chosen)}`;
    if (event.ctrlKey || event.metaKey || event.button === 1) window.open(path);
    else location.assign(path);
  };

  handlePointers(canvas, { map, changeView, choose, open });

  const KEYS = {
    ArrowLeft: () => changeView(() => map.move(ARROW_STEP, 0)),
    ArrowRight: () => changeView(() => map.move(-ARROW_STEP, 0)),
    ArrowUp: () => changeView(() => map.move(0, ARROW_STEP)),
    ArrowDown: () => changeView(() => map.move(0, -ARROW_STEP)),
    "+": () => changeView(() => map.zoom(ZOOM_STEP)),
    "=": () => changeView(() => map.zoom(ZOOM_STEP)),
    "-": () => changeView(() => map.zoom(1 / ZOOM_STEP)),
    0: () => changeView(map.showAll),
    j: () => step(1),
    k: () => step(-1),
    Enter: open,
    Escape: () => choose(-1),
  };
  canvas.addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    if (!act || (hasModifier && event.key !== "Enter")) return;
    event.preventDefault();
    event.stopPropagation();
    act(event);
  });
  const BUTTONS = { in: KEYS["+"], out: KEYS["-"], all: KEYS[0] };
  for (const button of stage.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", BUTTONS[button.dataset.zoom]);
  }

  startLegend(root, {
    highlight: (bit) => highlight(bit === null ? null : (point) => (masks[point] >> bit) & 1),
    enable(bit, isOn) {
      enabled = isOn ? enabled | (1 << bit) : enabled & ~(1 << bit);
      changeView(recolour);
    },
  });
  startTopics(root, {
    highlight: (topic) => highlight(topic === null ? null : (point) => topicOf[point] === topic),
    show(x, y) {
      changeView(() => map.show(x, y, TOPIC_ZOOM));
      canvas.focus({ preventScroll: true });
      stage.scrollIntoView({ block: "nearest" });
    },
  });

  const applyColours = () => {
    look = readColours(stage);
    map.setColours(look.background, look.hues);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyColours);
  new ResizeObserver(() => map.resize()).observe(canvas);
  map.resize();
  applyColours();
  recolour();
}

/** Calls `begin` when the pointer or the focus enters an element, and `end` when it leaves. */
function whileActive(element, begin, end) {
  for (const name of ["pointerenter", "focusin"]) element.addEventListener(name, begin);
  for (const name of ["pointerleave", "focusout"]) element.addEventListener(name, end);
}

function startLegend(root, { highlight, enable }) {
  for (const entry of root.querySelectorAll("[data-bit]")) {
    const bit = Number(entry.dataset.bit);
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    box.className = `hue-${bit + 1}`;
    box.setAttribute("aria-label", `Show ${entry.querySelector(".map-group").textContent}`);
    box.addEventListener("change", () => enable(bit, box.checked));
    entry.querySelector(".map-swatch").replaceWith(box);
    whileActive(
      entry,
      () => highlight(bit),
      () => highlight(null),
    );
  }
}

function startTopics(root, { highlight, show }) {
  for (const entry of root.querySelectorAll("[data-topic]")) {
    const { topic, x, y } = entry.dataset;
    const button = entry.querySelector("[data-show]");
    button.hidden = false;
    button.addEventListener("click", () => show(Number(x), Number(y)));
    whileActive(
      entry,
      () => highlight(Number(topic)),
      () => highlight(null),
    );
  }
}

async function startMap() {
  const root = document.querySelector("[data-points]");
  if (!root) return;
  const view = root.querySelector(".map-view");
  // The map takes its place before the data arrives, so that nothing moves.
  view.hidden = false;
  const response = await fetch(root.dataset.points);
  const isData = response.headers.get("content-type")?.startsWith("application/json");
  if (response.ok && isData) startCanvas(root, await response.json());
  else view.remove();
}

startMap();
