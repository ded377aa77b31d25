// The entries of the palette: a label, a kind, and the path that they open or what they do.

const MAX_FOUND_MEMORIES = 6;

const toLinkEntry = (kind, link) => ({
  kind,
  label: link.textContent.trim(),
  path: link.getAttribute("href"),
});

function linkEntries(kind, selector) {
  return [...document.querySelectorAll(selector)]
    .filter((each) => !each.hidden)
    .map((each) => ({ ...toLinkEntry(kind, each), run: () => each.click() }));
}

/** All commands: pages of the navigation, actions of this page, and commands of every page. What leads to the same comes once. */
function commandEntries(dialog) {
  const everywhere = [...dialog.querySelector("template").content.children];
  const entries = [
    ...linkEntries("Go to", 'nav[aria-label="Main"] a'),
    ...linkEntries("On this page", ".page-head .actions > :is(a, button)"),
    ...everywhere.map((each) => toLinkEntry("Do", each)),
    ...linkEntries("Do", ".person-links :is(a, button)"),
    { kind: "Do", label: "Show keyboard shortcuts", run: () => openDialog("keys") },
  ];
  const known = new Set();
  return entries.filter(({ label, path }) => {
    const isNew = !known.has(path ?? label);
    known.add(path ?? label);
    return isNew;
  });
}

async function readMoreEntries(dialog) {
  const response = await fetch("/palette");
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const links = [...page.querySelectorAll("a[data-kind]")];
  const themes = page.querySelector(".themes");
  if (themes) {
    themes.hidden = true;
    dialog.append(document.importNode(themes, true));
  }
  return [
    ...links.map((each) => toLinkEntry(each.dataset.kind, each)),
    ...linkEntries("Do", ".palette .themes button"),
  ];
}

let moreEntries = null;

/** Projects, pages of the help and themes, fetched once. They are found only by typing. None if the server can't be reached. */
async function fetchMoreEntries(dialog) {
  try {
    moreEntries ??= readMoreEntries(dialog);
    return await moreEntries;
  } catch {
    moreEntries = null;
    return [];
  }
}

const memoriesPath = (query) => `/memories?${new URLSearchParams({ q: query })}`;

function searchEntry(query) {
  return {
    kind: "Memories",
    label: `Search memories for “${query}”`,
    path: memoriesPath(query),
  };
}

/** The best memories for a query; null if the search failed or was aborted. */
async function findMemoryEntries(query, signal) {
  const headers = { "ctxd-part": "results" };
  const response = await fetch(memoriesPath(query), { headers, signal });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (signal.aborted || !response.ok) return null;
  return [...page.querySelectorAll(".memory > .memory-text")]
    .slice(0, MAX_FOUND_MEMORIES)
    .map((link) => toLinkEntry("Memories", link));
}
