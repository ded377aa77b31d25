// Updates a part of a page while it is visible. The part names its topic in `data-live` and its position in
// `data-live-at`. `/events` sends the position of the topic after each change. The script then fetches the page and
// replaces the part: at once if nobody is using it, else after a click on the line that says how many rows are new, or
// after the key `n`. A part without rows is replaced at once.

/** Time between two fetches of the page: at least so many milliseconds, and a multiple of what the last one took. */
const FETCH_PAUSE = { minimumMs: 1500, factor: 20 };
/** Milliseconds until a closed stream is opened again. The time doubles with each failure. */
const RECONNECT_MS = { first: 30_000, limit: 300_000 };

let eventSource = null;
let reconnectMs = RECONNECT_MS.first;
let reconnectTimer = 0;
/** The position on the server. */
let newestPosition = null;
/** The newest part that was fetched but is not shown yet. */
let pendingPart = null;
let isFetching = false;
let nextFetchAt = 0;

/** The line above the part that says how many rows are new. */
const newsLine = document.createElement("div");
newsLine.className = "live-line";
newsLine.setAttribute("role", "status");
/** Its button stays the same one: what is pressed on one and let go on another is no click. */
const newsButton = document.createElement("button");
newsButton.type = "button";
newsButton.title = "Show (n)";
newsButton.dataset.key = "n";
newsButton.addEventListener("click", () => showPending({ isRequested: true }));

function followTopic() {
  clearTimeout(reconnectTimer);
  const part = livePart();
  if (!part || document.hidden || eventSource) return;
  const topic = part.dataset.live;
  eventSource = new EventSource(`/events?of=${encodeURIComponent(topic)}`);
  eventSource.addEventListener(topic, (event) => {
    reconnectMs = RECONNECT_MS.first;
    newestPosition = event.data;
    fetchPart();
  });
  eventSource.addEventListener("error", () => {
    // A browser reconnects by itself unless the server refused the stream.
    if (eventSource?.readyState !== EventSource.CLOSED) return;
    stopFollowing();
    reconnectTimer = setTimeout(followTopic, reconnectMs);
    reconnectMs = Math.min(2 * reconnectMs, RECONNECT_MS.limit);
  });
}

function stopFollowing() {
  clearTimeout(reconnectTimer);
  eventSource?.close();
  eventSource = null;
}

/** Fetches the page if its part is out of date, with a pause between two fetches. */
async function fetchPart() {
  const isCurrent = (pendingPart ?? livePart())?.dataset.liveAt === newestPosition;
  if (isCurrent || isFetching || !livePart() || document.hidden) return;
  isFetching = true;
  const pause = nextFetchAt - performance.now();
  if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
  const began = performance.now();
  const { href } = location;
  const position = newestPosition;
  try {
    const response = await fetch(href, {
      headers: { accept: "text/html", "ctxd-part": "results" },
    });
    const text = response.ok && !response.redirected ? await response.text() : "";
    const page = new DOMParser().parseFromString(text, "text/html");
    // Another space was chosen in another window, or the membership has ended.
    if (text !== "" && spaceOf(page) !== spaceOf(document)) location.reload();
    const fetched = page.querySelector("[data-live]");
    // The person may have opened another view during the fetch.
    if (fetched && location.href === href && fetched.id === livePart()?.id) takePart(fetched);
  } catch {
    // The stream repeats the position, which starts another fetch.
  }
  const took = performance.now() - began;
  nextFetchAt = began + Math.max(FETCH_PAUSE.minimumMs, FETCH_PAUSE.factor * took);
  isFetching = false;
  if (newestPosition !== position) fetchPart();
}

function takePart(fetched) {
  const present = livePart();
  // The page of an empty account lacks everything around the part.
  if ("liveEmpty" in present.dataset && !("liveEmpty" in fetched.dataset)) {
    location.reload();
    return;
  }
  const known = new Set(rowIdsOf(present));
  const added = rowIdsOf(fetched).filter((id) => !known.has(id));
  const hasRows = known.size > 0 || added.length > 0;
  pendingPart = fetched;
  if (!hasRows || isIdle(present)) showPending();
  else if (added.length > 0) announce(present, added.length);
}

/** Says how many rows are new, without moving the part. */
function announce(present, count) {
  const noun = present.dataset.liveNoun ?? "memory";
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  newsButton.textContent = `${count} new ${count === 1 ? noun : plural}`;
  if (newsLine.nextElementSibling !== present) present.before(newsLine);
  if (!newsButton.parentElement) newsLine.append(newsButton);
}

/** Shows the newest part. If the person asked for it, the page scrolls up to the new rows. */
function showPending({ isRequested = false } = {}) {
  const present = livePart();
  if (!pendingPart || !present) return;
  const focused = selectorOf(present, document.activeElement);
  const newer = pendingPart;
  pendingPart = null;
  newsLine.replaceChildren();
  const fresh = replacePart(present, newer);
  if (isRequested) {
    scrollTo({ top: 0 });
    fresh.querySelector(".is-new a[href]")?.focus({ preventScroll: true });
  } else if (focused) fresh.querySelector(focused)?.focus({ preventScroll: true });
  fetchPart();
}

/** Shows the newest part when the person has left the present one, unless the line already offers it. */
function showIfIdle() {
  const present = livePart();
  const isAnnounced = newsLine.firstChild !== null;
  if (pendingPart && present && !isAnnounced && isIdle(present)) showPending();
}

for (const name of ["mouseout", "focusout", "change", "scroll"]) {
  document.addEventListener(name, () => setTimeout(showIfIdle), { passive: true });
}

// A search or filter may have brought another part, or one that does not follow a topic.
document.addEventListener("part:replaced", () => {
  pendingPart = null;
  newsLine.replaceChildren();
  if (!livePart()) stopFollowing();
  else followTopic();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) stopFollowing();
  else followTopic();
});
addEventListener("pagehide", stopFollowing);
addEventListener("pageshow", followTopic);
