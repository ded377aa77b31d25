// The entries of the palette: a label, a kind, and what they do.

const MAX_FOUND_MEMORIES = 6;

function linkEntries(kind, selector) {
  return [...document.querySelectorAll(selector)]
    .filter((each) => !each.hidden)
    .map((each) => ({ kind, label: each.textContent.trim(), run: () => each.click() }));
}

/** All commands: pages of the navigation, actions of this page, and commands of every page. */
function commandEntries(dialog) {
  const onThisPage = linkEntries("On this page", ".page-head .actions > :is(a, button)");
  const known = new Set(onThisPage.map(({ label }) => label));
  const everywhere = [...dialog.querySelector("template").content.children].map((each) => ({
    kind: "Do",
    label: each.textContent,
    run: () => location.assign(each.href),
  }));
  return [
    ...linkEntries("Go to", 'nav[aria-label="Main"] a'),
    ...onThisPage,
    ...everywhere.filter(({ label }) => !known.has(label)),
    ...linkEntries("Do", ".person-links :is(a, button)"),
    { kind: "Do", label: "Show keyboard shortcuts", run: () => openDialog("keys") },
  ];
}

const memoriesPath = (query) => `/memories?${new URLSearchParams({ q: query })}`;

function searchEntry(query) {
  return {
    kind: "Memories",
    label: `Search memories for “${query}”`,
    run: () => location.assign(memoriesPath(query)),
  };
}

/** The best memories for a query; null if the search failed or was aborted. */
async function findMemoryEntries(query, signal) {
  const headers = { "hx-request": "true" };
  const response = await fetch(memoriesPath(query), { headers, signal });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (signal.aborted || !response.ok) return null;
  return [...page.querySelectorAll(".memory > .memory-text")]
    .slice(0, MAX_FOUND_MEMORIES)
    .map((link) => ({
      kind: "Memories",
      label: link.textContent.trim(),
      run: () => location.assign(link.getAttribute("href")),
    }));
}
