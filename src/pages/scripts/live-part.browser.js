// The part of a page that follows the server: reads its rows and decides whether it may be replaced.

const livePart = () => document.querySelector("[data-live]");

/** The space whose memories a page shows; undefined for people who are in none. */
const spaceOf = (page) => page.querySelector(".whose")?.dataset.space;

/** The ids of the rows of a part: elements with `data-id`, and inputs named `id`. */
function rowIdsOf(part) {
  return [...part.querySelectorAll('[data-id], [name="id"]')].map(
    (row) => row.dataset.id ?? row.value,
  );
}

/** Whether a part can be replaced without disturbing the person who is using it. */
function isIdle(part) {
  const active = document.activeElement;
  const isTyping = active?.matches("input, textarea, select") && active.value !== "";
  return !(
    isTyping ||
    scrollY > 8 ||
    part.matches(":hover") ||
    part.contains(active) ||
    part.querySelector('[name="id"]:checked') ||
    document.querySelector("dialog[open], [data-busy]") ||
    getSelection()?.isCollapsed === false
  );
}

/** A selector that finds the focused element again; null if it is outside of the part. */
function selectorOf(part, active) {
  if (!active || !part.contains(active)) return null;
  if (active.id) return `#${CSS.escape(active.id)}`;
  const href = active.getAttribute("href");
  return href ? `a[href="${CSS.escape(href)}"]` : null;
}

/** Replaces a part. New rows are marked, and open `details` stay open. */
function replacePart(present, newer) {
  const known = new Set(rowIdsOf(present));
  const fresh = document.importNode(newer, true);
  for (const row of fresh.querySelectorAll('li:has([name="id"]), li[data-id]')) {
    const [id] = row.dataset.id ? [row.dataset.id] : rowIdsOf(row);
    if (!known.has(id)) row.classList.add("is-new");
  }
  for (const { open, id, className } of present.querySelectorAll("details")) {
    const same = [...fresh.querySelectorAll("details")].find(
      (each) => each.id === id && each.className === className,
    );
    if (same) same.open = open;
  }
  present.replaceWith(fresh);
  document.dispatchEvent(new CustomEvent("part:replaced"));
  return fresh;
}
