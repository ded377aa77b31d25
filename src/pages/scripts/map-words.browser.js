// The words on the map: the names of topics, and the text of the chosen memory.

/** Fetches and caches the texts of memories. */
function createTexts(path) {
  const known = new Map();
  return {
    get: (id) => known.get(id),
    async fetch(ids) {
      const missing = ids.filter((id) => !known.has(id));
      if (missing.length === 0) return;
      for (const id of missing) known.set(id, null);
      try {
        const response = await fetch(`${path}?${new URLSearchParams({ ids: missing.join() })}`);
        const { memories } = await response.json();
        for (const memory of memories) known.set(memory.id, memory);
      } catch {
        for (const id of missing) known.delete(id);
      }
    },
  };
}

/** The place of the buttons at the top right, which no name covers: the distance of its middle from the corner, half its width. */
const TOOLS = { right: 70, top: 25, half: 75 };

/** Pixels by which a name may be moved so that it covers no point, and the points up to which there is room for that. */
const SHIFTS = [0, -16, 16, -30, 30];
const MAX_POINTS_BESIDE = 300;

/**
 * Makes a function that draws the names of topics, large topics first, without overlaps.
 * @param places of the points, x and y in turns
 */
function createLabels(topics, places) {
  const coversPoint = (view, x, y, half) => {
    for (let at = 0; at < places.length; at += 2) {
      const isBeside = Math.abs(places[at] * view.scale + view.left - x) > half + 4;
      if (!isBeside && Math.abs(places[at + 1] * view.scale + view.top - y) < 13) return true;
    }
    return false;
  };
  const shifts = places.length > 2 * MAX_POINTS_BESIDE ? [0] : SHIFTS;
  const names = topics.map(({ words }) => words.slice(0, 2).join(", "));
  /** Of each name and of the buttons: the middle and half the width. */
  const boxes = new Float32Array(4 * (topics.length + 1));
  let [font, widths] = ["", []];
  return (context, { view, size, look }) => {
    context.font = look.font;
    if (font !== look.font) {
      font = look.font;
      widths = names.map((name) => context.measureText(name).width);
    }
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeStyle = look.background;
    context.fillStyle = look.text;
    boxes.set([size.width - TOOLS.right, TOOLS.top, TOOLS.half]);
    let shown = 1;
    for (let topic = 0; topic < topics.length; topic++) {
      const half = widths[topic] / 2 + 4;
      const least = Math.min(half, size.width / 2);
      const x = topics[topic].x * view.scale + view.left;
      const middle = Math.min(size.width - least, Math.max(least, x));
      const own = topics[topic].y * view.scale + view.top;
      const y = own + (shifts.find((by) => !coversPoint(view, middle, own + by, half)) ?? 0);
      if (half === 4 || x < 0 || x > size.width || y < 8 || y > size.height - 8) continue;
      let isFree = true;
      for (let at = 0; at < shown && isFree; at++) {
        const isBeside = Math.abs(boxes[4 * at] - middle) > boxes[4 * at + 2] + half;
        isFree = isBeside || Math.abs(boxes[4 * at + 1] - y) > 18;
      }
      if (!isFree) continue;
      boxes[4 * shown] = middle;
      boxes[4 * shown + 1] = y;
      boxes[4 * shown + 2] = half;
      shown++;
      context.strokeText(names[topic], middle, y);
      context.fillText(names[topic], middle, y);
    }
  };
}

/** Shows the text of a point beside it. */
function createTip(element, texts) {
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
  const part = (name, text) => {
    const made = document.createElement(name);
    made.dir = "auto";
    made.textContent = text;
    return made;
  };
  let shown = null;
  return {
    hide() {
      shown = null;
      element.hidden = true;
    },
    /** @param isFixed whether the text stays until another point is chosen, with a link to the memory */
    async show(id, around, { x, y }, { width, height }, isFixed) {
      shown = id;
      const ids = around();
      await texts.fetch(ids);
      const memory = texts.get(id);
      if (shown !== id || !memory) return;
      const text = part(isFixed ? "a" : "p", memory.text);
      if (isFixed) text.href = `/memories/${id}`;
      const facts = [...memory.facts, day.format(new Date(memory.created_at))];
      element.replaceChildren(text, part("small", facts.join(" · ")));
      element.classList.toggle("fixed", isFixed);
      element.hidden = false;
      const right = x > width / 2;
      const below = y > height / 2;
      element.style.left = right ? "" : `${x + 12}px`;
      element.style.right = right ? `${width - x + 12}px` : "";
      element.style.top = below ? "" : `${y + 12}px`;
      element.style.bottom = below ? `${height - y + 12}px` : "";
    },
  };
}
