// Shows results while the person types or chooses filters, and saves searches in this browser.

/** Milliseconds without typing after which results are fetched. */
const TYPING_PAUSE_MS = 250;

/** Puts the results of another page in the place of those that are shown. @returns whether there are any */
function replaceResults(page) {
  const fresh = page.getElementById("results");
  if (!fresh) return false;
  document.getElementById("results").replaceWith(document.importNode(fresh, true));
  document.dispatchEvent(new CustomEvent("part:replaced"));
  return true;
}

/** Adds the current search to links that change only some parameters of the view. */
function updateSwitchLinks() {
  for (const link of document.querySelectorAll("a[data-switch]")) {
    const url = new URL(location.href);
    const wanted = new URL(link.href).searchParams;
    for (const name of link.dataset.switch.split(" ")) {
      if (wanted.has(name)) url.searchParams.set(name, wanted.get(name));
      else url.searchParams.delete(name);
    }
    link.href = url.href;
  }
}

const searchForm = document.querySelector(".memory-search");
let typing = new AbortController();

async function showSearch(signal) {
  const url = new URL(searchForm.action);
  const fields = [...new FormData(searchForm)].filter(([, value]) => value !== "");
  url.search = new URLSearchParams(fields);
  const response = await fetch(url, { headers: { "ctxd-part": "results" }, signal });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (signal.aborted) return;
  history.replaceState(history.state, "", url);
  if (!replaceResults(page)) location.reload();
  updateSwitchLinks();
}

searchForm?.addEventListener("input", () => {
  typing.abort();
  typing = new AbortController();
  const { signal } = typing;
  setTimeout(() => {
    // If it fails, the form can still be sent.
    if (!signal.aborted) showSearch(signal).catch(() => {});
  }, TYPING_PAUSE_MS);
});

const savedList = document.getElementById("searches");
/** Other people may use this browser. */
const savedName = `searches of ${savedList?.dataset.account}`;

/** The saved searches, each with its name and its parameters. */
function readSaved() {
  try {
    return JSON.parse(localStorage.getItem(savedName)) ?? [];
  } catch {
    return [];
  }
}

/** The parameters of the view without those that say which part of it is shown. */
function searchHere() {
  const parameters = new URLSearchParams(location.search);
  for (const name of ["cursor", "rest"]) parameters.delete(name);
  return parameters.toString();
}

/** The question and the filters of the view, as the page names them. */
function nameOfView() {
  const { q, project } = Object.fromEntries(new URLSearchParams(location.search));
  const chips = [...document.querySelectorAll(".chip bdi")].map((chip) => chip.textContent);
  const order = document.querySelector("[data-order=importance]")?.textContent;
  return [q, project, ...chips, order].filter(Boolean).join(", ") || "No project";
}

function saveSearches(searches) {
  localStorage.setItem(savedName, JSON.stringify(searches));
  showSaved();
}

function savedElement({ name, search }) {
  const entry = document.createElement("span");
  entry.className = "badge";
  const link = document.createElement("a");
  link.href = `/memories?${search}`;
  link.dir = "auto";
  link.textContent = name;
  if (search === searchHere()) link.setAttribute("aria-current", "true");
  const remove = document.createElement("button");
  remove.type = "button";
  remove.className = "link";
  remove.textContent = "×";
  remove.setAttribute("aria-label", `Remove the saved search “${name}”`);
  remove.addEventListener("click", () =>
    saveSearches(readSaved().filter((each) => each.search !== search)),
  );
  entry.append(link, remove);
  return entry;
}

/** Shows the saved searches, and the button that saves the present one. */
function showSaved() {
  if (!savedList) return;
  const saved = readSaved();
  const search = searchHere();
  savedList.replaceChildren(...saved.map(savedElement));
  savedList.hidden = saved.length === 0;
  const button = document.querySelector("[data-save]");
  if (!button) return;
  button.hidden = search === "";
  button.disabled = saved.some((each) => each.search === search);
  button.textContent = button.disabled ? "Saved" : "Save this search";
  button.onclick = () => saveSearches([...readSaved(), { name: nameOfView(), search }]);
}

showSaved();
document.addEventListener("part:replaced", showSaved);
