// Keeps a part of a page as it is on the server, while somebody looks at it. A part has `data-live`, what it
// is about, and `data-live-at`, where that was when the page was made. The server tells when it is elsewhere
// (`/events`); the page is asked for again, and the part takes the place of the former one: at once if
// nobody is at work in it, else when `n` or the line that says what is new is pressed. A part without rows
// (`data-id`, or a box called `id`) changes its figures at once.

(() => {
  /** Milliseconds between two times that the page is asked for; more where that takes long. */
  const EVERY = { least: 1500, times: 20 };
  const AGAIN_AFTER = { first: 30_000, most: 300_000 };

  let source = null;
  let patience = AGAIN_AFTER.first;
  let retry = 0;
  /** Where the server is, and the newest part from there that is not shown yet. */
  let wanted = null;
  let waiting = null;
  let isAsking = false;
  let askAgainAt = 0;

  const line = document.createElement("div");
  line.className = "live-line";
  line.setAttribute("role", "status");

  const part = () => document.querySelector("[data-live]");

  function listen() {
    clearTimeout(retry);
    const followed = part();
    if (!followed || document.hidden || source) return;
    const topic = followed.dataset.live;
    source = new EventSource(`/events?of=${encodeURIComponent(topic)}`);
    source.addEventListener(topic, (event) => {
      patience = AGAIN_AFTER.first;
      wanted = event.data;
      ask();
    });
    source.addEventListener("error", () => {
      if (source?.readyState !== EventSource.CLOSED) return;
      stop();
      retry = setTimeout(listen, patience);
      patience = Math.min(2 * patience, AGAIN_AFTER.most);
    });
  }

  function stop() {
    clearTimeout(retry);
    source?.close();
    source = null;
  }

  /** Asks for the page as it is now, not more often than is pleasant. */
  async function ask() {
    const isKnown = (waiting ?? part())?.dataset.liveAt === wanted;
    if (isKnown || isAsking || !part() || document.hidden) return;
    isAsking = true;
    const pause = askAgainAt - performance.now();
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    const began = performance.now();
    const { href } = location;
    const asked = wanted;
    try {
      const response = await fetch(href, {
        headers: { accept: "text/html", "hx-request": "true" },
      });
      const text = response.ok && !response.redirected ? await response.text() : "";
      const page = new DOMParser().parseFromString(text, "text/html");
      const fresh = page.querySelector("[data-live]");
      // What is looked at may be something else meanwhile.
      if (fresh && location.href === href && fresh.id === part()?.id) take(fresh);
    } catch {
      // The stream tells again.
    }
    const took = performance.now() - began;
    askAgainAt = began + Math.max(EVERY.least, EVERY.times * took);
    isAsking = false;
    if (wanted !== asked) ask();
  }

  const rowsOf = (element) =>
    [...element.querySelectorAll('[data-id], [name="id"]')].map(
      (row) => row.dataset.id ?? row.value,
    );

  /** Whether a part can change without anyone losing what they look at. */
  function isCalm(present) {
    const active = document.activeElement;
    const isTyping = active?.matches("input, textarea, select") && active.value !== "";
    return !(
      isTyping ||
      scrollY > 8 ||
      present.matches(":hover") ||
      present.contains(active) ||
      present.querySelector('[name="id"]:checked') ||
      document.querySelector("dialog[open], [data-busy]") ||
      getSelection()?.isCollapsed === false
    );
  }

  function take(fresh) {
    const present = part();
    // Around what was empty there is more to come.
    if ("liveAnew" in present.dataset && !("liveAnew" in fresh.dataset)) {
      location.reload();
      return;
    }
    const known = new Set(rowsOf(present));
    const added = rowsOf(fresh).filter((id) => !known.has(id));
    const hasRows = known.size > 0 || added.length > 0;
    waiting = fresh;
    if (!hasRows || isCalm(present)) show();
    else if (added.length > 0) offer(present, added.length);
  }

  /** Says how much is new, above the part and without moving it. */
  function offer(present, count) {
    const noun = present.dataset.liveNoun ?? "memory";
    const button = document.createElement("button");
    button.type = "button";
    const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
    button.textContent = `${count} new ${count === 1 ? noun : plural}`;
    button.title = "Show (n)";
    button.dataset.key = "n";
    button.addEventListener("click", () => show(true));
    if (line.nextElementSibling !== present) present.before(line);
    line.replaceChildren(button);
  }

  /** Puts the newest part in the place of the former one. */
  function show(isWished = false) {
    const present = part();
    if (!waiting || !present) return;
    const known = new Set(rowsOf(present));
    const fresh = document.importNode(waiting, true);
    const focused = placeOf(present, document.activeElement);
    for (const row of fresh.querySelectorAll('li:has([name="id"]), li[data-id]')) {
      const [id] = row.dataset.id ? [row.dataset.id] : rowsOf(row);
      if (!known.has(id)) row.classList.add("is-new");
    }
    for (const { open, id, className } of present.querySelectorAll("details")) {
      const same = [...fresh.querySelectorAll("details")].find(
        (each) => each.id === id && each.className === className,
      );
      if (same) same.open = open;
    }
    present.replaceWith(fresh);
    waiting = null;
    line.replaceChildren();
    // The other scripts see to what has come, as to what htmx brings.
    window.htmx?.process(fresh);
    document.dispatchEvent(new CustomEvent("htmx:after:swap"));
    if (isWished) {
      scrollTo({ top: 0 });
      fresh.querySelector(".is-new a[href]")?.focus({ preventScroll: true });
    } else if (focused) fresh.querySelector(focused)?.focus({ preventScroll: true });
    ask();
  }

  /** By what the element in focus is found again; null where it is elsewhere. */
  function placeOf(present, active) {
    if (!active || !present.contains(active)) return null;
    if (active.id) return `#${CSS.escape(active.id)}`;
    const href = active.getAttribute("href");
    return href ? `a[href="${CSS.escape(href)}"]` : null;
  }

  // What was waited for may be shown when the pointer or the focus has left.
  for (const name of ["mouseout", "focusout", "change", "scroll"]) {
    document.addEventListener(name, () => setTimeout(showIfCalm), { passive: true });
  }

  function showIfCalm() {
    const present = part();
    const isOffered = line.firstChild !== null;
    if (waiting && present && !isOffered && isCalm(present)) show();
  }

  // A search or a filter may have brought another part, or one that is not followed.
  document.addEventListener("htmx:after:swap", () => {
    waiting = null;
    line.replaceChildren();
    if (!part()) stop();
    else listen();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stop();
    else listen();
  });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", listen);
})();
