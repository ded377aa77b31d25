// The palette: the pages of the navigation, what the page offers, and memories that answer what is typed.

const PALETTE_PATIENCE = 200;
const MOST_ANSWERS = 6;

function startPalette(dialog) {
  const field = dialog.querySelector("input");
  const list = dialog.querySelector("[role=listbox]");
  let asking = new AbortController();
  let timer = 0;
  let chosen = 0;

  /** What can be chosen: its words, and what choosing it does. */
  const commands = () => {
    const links = (selector, root = document) =>
      [...root.querySelectorAll(selector)]
        .filter((each) => !each.hidden)
        .map((each) => ({ label: each.textContent.trim(), run: () => each.click() }));
    const others = [...dialog.querySelector("template").content.children].map((each) => ({
      label: each.textContent,
      run: () => location.assign(each.href),
    }));
    const here = links(".page-head .actions > :is(a, button)");
    const known = new Set(here.map(({ label }) => label));
    return [
      ...links('nav[aria-label="Main"] a').map((each) => ({ ...each, kind: "Go to" })),
      ...here.map((each) => ({ ...each, kind: "On this page" })),
      ...others.filter(({ label }) => !known.has(label)).map((each) => ({ ...each, kind: "Do" })),
      ...links(".who-ways :is(a, button)").map((each) => ({ ...each, kind: "Do" })),
      { label: "Show keys", kind: "Do", run: () => openDialog("keys") },
    ];
  };

  let [all, matching, answers, shown] = [[], [], [], []];

  const choose = (at) => {
    const options = [...list.querySelectorAll("[role=option]")];
    chosen = options.length === 0 ? 0 : (at + options.length) % options.length;
    for (const [index, option] of options.entries()) {
      option.setAttribute("aria-selected", String(index === chosen));
    }
    const option = options[chosen];
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  };

  const show = () => {
    const query = field.value.trim();
    const search = {
      label: `Search memories for “${query}”`,
      kind: "Memories",
      run: () => location.assign(`/memories?${new URLSearchParams({ q: query })}`),
    };
    shown = query === "" ? matching : [...matching, search, ...answers];
    const groups = Map.groupBy(shown, ({ kind }) => kind);
    const sorted = [...groups.values()].flat();
    shown = sorted;
    list.replaceChildren(
      ...[...groups].map(([kind, entries]) => {
        const group = document.createElement("div");
        group.setAttribute("role", "group");
        group.setAttribute("aria-label", kind);
        group.dataset.kind = kind;
        for (const entry of entries) {
          const option = document.createElement("div");
          option.setAttribute("role", "option");
          option.id = `palette-${sorted.indexOf(entry)}`;
          option.dir = "auto";
          option.textContent = entry.label;
          group.append(option);
        }
        return group;
      }),
    );
    choose(Math.min(chosen, sorted.length - 1));
  };

  const ask = async (query) => {
    const { signal } = asking;
    const path = `/memories?${new URLSearchParams({ q: query })}`;
    const response = await fetch(path, { headers: { "hx-request": "true" }, signal });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (signal.aborted || !response.ok) return;
    answers = [...page.querySelectorAll(".memory > .memory-text")]
      .slice(0, MOST_ANSWERS)
      .map((link) => ({
        label: link.textContent.trim(),
        kind: "Memories",
        run: () => location.assign(link.getAttribute("href")),
      }));
    show();
  };

  const typed = () => {
    const query = field.value.trim();
    const words = query.toLowerCase().split(/\s+/);
    const has = (label) => words.every((word) => label.toLowerCase().includes(word));
    matching = all.filter(({ label }) => has(label));
    // Those of the text before stay for the moment, so that nothing jumps.
    if (query === "") answers = [];
    chosen = 0;
    show();
    asking.abort();
    asking = new AbortController();
    clearTimeout(timer);
    // What fails leaves the way to the page of memories, which says why.
    if (query !== "") timer = setTimeout(() => ask(query).catch(() => {}), PALETTE_PATIENCE);
  };

  const close = () => {
    // Where nothing had the focus before, the field would keep it until the page is painted again.
    field.blur();
    dialog.close();
  };

  const run = (at) => {
    const entry = shown[at];
    close();
    entry?.run();
  };

  field.addEventListener("input", typed);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") run(chosen);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  const optionAt = (event) => event.target.closest("[role=option]");
  const placeOf = (option) => [...list.querySelectorAll("[role=option]")].indexOf(option);
  list.addEventListener("mousemove", (event) => {
    const option = optionAt(event);
    if (option && option.getAttribute("aria-selected") !== "true") choose(placeOf(option));
  });
  list.addEventListener("click", (event) => {
    const option = optionAt(event);
    if (option) run(placeOf(option));
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) close();
  });
  dialog.addEventListener("close", () => {
    asking.abort();
    clearTimeout(timer);
  });
  // Whoever opens it, it begins anew.
  new MutationObserver(() => {
    if (!dialog.open) return;
    all = commands();
    field.value = "";
    typed();
  }).observe(dialog, { attributes: true, attributeFilter: ["open"] });
}

const palette = document.getElementById("palette");
if (palette) startPalette(palette);
