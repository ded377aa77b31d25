// The map of memories: what is pointed at is told, a press opens it. Without it the lists beside it say what
// the map says. map-canvas.browser.js draws,
// map-words.browser.js has the words on it.

/** Colours: eight of groups, one of others, one of none. */
const HUES = 10;
/** Pixels beside a point that still mean it, those of a press that is none, and those of an arrow key. */
const NEAR = 8;
const STILL = 4;
const ARROW = 60;
const ZOOM = 1.5;
/** How much larger a topic is shown than all. */
const OF_TOPIC = 3.5;
/** Points around one whose texts are fetched with it, and milliseconds that it waits for a pointer that rests. */
const AT_ONCE = 40;
const REST = 50;
/** Memories that the keys go through, from the middle outward. */
const IN_TURN = 500;
const ID_BYTES = 16;

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

const words16 = (base64) => new Uint16Array(bytesOf(base64).buffer);

/** The colours of the stylesheet in the present scheme. */
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

function show(root, data) {
  const stage = root.querySelector(".map-stage");
  const canvas = stage.querySelector("canvas");
  const ids = bytesOf(data.ids);
  const masks = words16(data.masks[root.dataset.by]);
  const topicOf = bytesOf(data.topicOf);
  const places = Float32Array.from(words16(data.places), (place) => place / 65535);
  const labels = createLabels(data.topics);
  const texts = createTexts(root.dataset.texts);
  const tip = createTip(stage.querySelector(".map-tip"), texts);
  let look = readColours(stage);
  let enabled = (1 << HUES) - 1;
  let chosen = -1;
  /** The points that the keys go through, and how far they are. */
  let turn = { points: [], at: -1 };

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
      map.colours[point] = bits === 0 ? 255 : 31 - Math.clz32(bits & -bits);
    }
    map.redraw();
  };

  /** Lets all points stand back but some; none without a rule. */
  const stress = (isMeant) => {
    for (let point = 0; point < masks.length; point++) {
      map.isFaint[point] = isMeant && !isMeant(point) ? 1 : 0;
    }
    map.redraw();
  };

  const choose = (point, isFixed) => {
    if (point === chosen && !isFixed) return;
    chosen = point;
    map.redraw();
    if (point < 0) return tip.hide();
    const place = map.placeOf(point);
    const around = () => map.around(place.x, place.y, AT_ONCE).concat(point).map(idOf);
    tip.show(idOf(point), around, place, map.size, isFixed);
  };

  const moved = (change) => {
    turn = { points: [], at: -1 };
    choose(-1);
    change();
  };

  const step = (by) => {
    if (turn.points.length === 0) {
      const { width, height } = map.size;
      turn.points = map.around(width / 2, height / 2, IN_TURN);
    }
    turn.at = Math.min(turn.points.length - 1, Math.max(0, turn.at + by));
    if (turn.points.length > 0) choose(turn.points[turn.at], true);
  };

  const open = (event) => {
    if (chosen < 0) return;
    const path = `/memories/${idOf(chosen)}`;
    if (event.ctrlKey || event.metaKey || event.button === 1) window.open(path);
    else location.assign(path);
  };

  handlePointers(canvas, { map, moved, choose, open });

  const KEYS = {
    ArrowLeft: () => moved(() => map.move(ARROW, 0)),
    ArrowRight: () => moved(() => map.move(-ARROW, 0)),
    ArrowUp: () => moved(() => map.move(0, ARROW)),
    ArrowDown: () => moved(() => map.move(0, -ARROW)),
    "+": () => moved(() => map.zoom(ZOOM)),
    "=": () => moved(() => map.zoom(ZOOM)),
    "-": () => moved(() => map.zoom(1 / ZOOM)),
    0: () => moved(map.showAll),
    j: () => step(1),
    k: () => step(-1),
    Enter: open,
    Escape: () => choose(-1),
  };
  canvas.addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    const isOther = event.ctrlKey || event.metaKey || event.altKey;
    if (!act || (isOther && event.key !== "Enter")) return;
    event.preventDefault();
    event.stopPropagation();
    act(event);
  });
  const WAYS = { in: KEYS["+"], out: KEYS["-"], all: KEYS[0] };
  for (const button of stage.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", WAYS[button.dataset.zoom]);
  }

  offerLegend(root, {
    stress: (bit) => stress(bit === null ? null : (point) => (masks[point] >> bit) & 1),
    enable(bit, isOn) {
      enabled = isOn ? enabled | (1 << bit) : enabled & ~(1 << bit);
      moved(recolour);
    },
  });
  offerTopics(root, {
    stress: (topic) => stress(topic === null ? null : (point) => topicOf[point] === topic),
    show(x, y) {
      moved(() => map.show(x, y, OF_TOPIC));
      canvas.focus({ preventScroll: true });
      stage.scrollIntoView({ block: "nearest" });
    },
  });

  const dress = () => {
    look = readColours(stage);
    map.setColours(look.background, look.hues);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  new ResizeObserver(() => map.resize()).observe(canvas);
  map.resize();
  dress();
  recolour();
}

/** Pointing tells, dragging moves, a press opens; two fingers zoom, and a finger's press tells first. */
function handlePointers(canvas, { map, moved, choose, open }) {
  const down = new Map();
  let [travelled, rest] = [0, 0];
  const placeIn = (event) => ({ x: event.offsetX, y: event.offsetY });
  const spread = () => {
    const [a, b] = [...down.values()];
    return { far: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  };
  const pointed = ({ x, y }) => map.nearest(x, y, map.radius() + NEAR);

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (down.size === 0) travelled = 0;
    down.set(event.pointerId, placeIn(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    const now = placeIn(event);
    if (!before) {
      clearTimeout(rest);
      const point = pointed(now);
      canvas.classList.toggle("pointed", point >= 0);
      if (point < 0) choose(-1);
      else rest = setTimeout(() => choose(point), REST);
      return;
    }
    const [right, below] = [now.x - before.x, now.y - before.y];
    travelled += Math.abs(right) + Math.abs(below);
    const start = down.size === 2 ? spread() : null;
    down.set(event.pointerId, now);
    if (travelled <= STILL) return;
    if (start === null) return moved(() => map.move(right, below));
    const end = spread();
    moved(() => map.zoom(end.far / Math.max(1, start.far), end.x, end.y));
  });
  const released = (event) => {
    if (!down.delete(event.pointerId) || event.type !== "pointerup" || travelled > STILL) return;
    clearTimeout(rest);
    const point = pointed(placeIn(event));
    const isTouch = event.pointerType !== "mouse";
    choose(point, isTouch && point >= 0);
    if (!isTouch) open(event);
  };
  canvas.addEventListener("pointerup", released);
  canvas.addEventListener("pointercancel", released);
  canvas.addEventListener("pointerleave", (event) => {
    clearTimeout(rest);
    // A finger that was lifted has left, too.
    if (event.pointerType === "mouse") choose(-1);
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { x, y } = placeIn(event);
      const lines = event.deltaMode === 1 ? 16 : 1;
      moved(() => map.zoom(Math.exp(-0.002 * lines * event.deltaY), x, y));
    },
    { passive: false },
  );
}

/** Has something happen while an element is pointed at, or has the focus in it. */
function whileMeant(element, begin, end) {
  for (const name of ["pointerenter", "focusin"]) element.addEventListener(name, begin);
  for (const name of ["pointerleave", "focusout"]) element.addEventListener(name, end);
}

function offerLegend(root, { stress, enable }) {
  for (const entry of root.querySelectorAll("[data-bit]")) {
    const bit = Number(entry.dataset.bit);
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    box.className = `hue-${bit + 1}`;
    box.setAttribute("aria-label", `Show ${entry.querySelector(".map-group").textContent}`);
    box.addEventListener("change", () => enable(bit, box.checked));
    entry.querySelector(".map-swatch").replaceWith(box);
    whileMeant(
      entry,
      () => stress(bit),
      () => stress(null),
    );
  }
}

function offerTopics(root, { stress, show }) {
  for (const entry of root.querySelectorAll("[data-topic]")) {
    const { topic, x, y } = entry.dataset;
    const button = entry.querySelector("[data-show]");
    button.hidden = false;
    button.addEventListener("click", () => show(Number(x), Number(y)));
    whileMeant(
      entry,
      () => stress(Number(topic)),
      () => stress(null),
    );
  }
}

async function startMap() {
  const root = document.querySelector("[data-points]");
  if (!root) return;
  const view = root.querySelector(".map-view");
  // Its place is there before it is filled.
  view.hidden = false;
  const response = await fetch(root.dataset.points);
  const isData = response.headers.get("content-type")?.startsWith("application/json");
  if (response.ok && isData) show(root, await response.json());
  else view.remove();
}

startMap();
