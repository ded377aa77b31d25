// The palette: pages, commands, projects, help, and memories that match the text.

/** Milliseconds without typing after which memories are searched. */
const SEARCH_DELAY_MS = 200;

/** The list below the field. Its options are grouped by their kind. */
function createOptionList(field, list) {
  let entries = [];
  let chosen = 0;
  const options = () => [...list.querySelectorAll("[role=option]")];

  /** Chooses an option; after the last comes the first. */
  const choose = (index) => {
    const all = options();
    chosen = all.length === 0 ? 0 : (index + all.length) % all.length;
    for (const [at, option] of all.entries()) {
      option.setAttribute("aria-selected", String(at === chosen));
    }
    const option = all[chosen];
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  };

  const groupElement = (kind, ofKind) => {
    const group = document.createElement("div");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", kind);
    group.dataset.kind = kind;
    for (const entry of ofKind) {
      const option = document.createElement("div");
      option.className = "one-line";
      option.setAttribute("role", "option");
      option.id = `palette-${entries.indexOf(entry)}`;
      option.dir = "auto";
      option.textContent = entry.label;
      group.append(option);
    }
    return group;
  };

  return {
    indexOf: (option) => options().indexOf(option),
    entryAt: (index) => entries[index],
    chosen: () => chosen,
    choose,

    /** Shows entries. @param isNew whether the choice begins at the first one again */
    show(next, isNew) {
      const groups = Map.groupBy(next, ({ kind }) => kind);
      entries = [...groups.values()].flat();
      list.replaceChildren(...[...groups].map(([kind, ofKind]) => groupElement(kind, ofKind)));
      choose(isNew ? 0 : Math.min(chosen, entries.length - 1));
    },
  };
}

function startPalette(dialog) {
  const field = dialog.querySelector("input");
  const list = dialog.querySelector("[role=listbox]");
  const options = createOptionList(field, list);
  let commands = [];
  /** What is shown only if it matches: there is much of it. */
  let more = [];
  let foundMemories = [];
  let search = new AbortController();
  let timer = 0;

  const showEntries = (query, isNew) => {
    const words = query.toLowerCase().split(/\s+/);
    const known = query === "" ? commands : [...commands, ...more];
    const matching = known.filter(({ label }) =>
      words.every((word) => label.toLowerCase().includes(word)),
    );
    const memories = query === "" ? [] : [searchEntry(query), ...foundMemories];
    options.show([...matching, ...memories], isNew);
  };

  const stopSearch = () => {
    search.abort();
    clearTimeout(timer);
  };

  const searchMemories = async (query) => {
    const entries = await findMemoryEntries(query, search.signal);
    if (entries === null) return;
    foundMemories = entries;
    showEntries(query, false);
  };

  const update = () => {
    const query = field.value.trim();
    // The memories found for the previous text stay until new ones arrive, so that the list does not jump.
    if (query === "") foundMemories = [];
    showEntries(query, true);
    stopSearch();
    search = new AbortController();
    // If the search fails, the list still has the link to the page of memories, which shows the reason.
    if (query !== "")
      timer = setTimeout(() => searchMemories(query).catch(() => {}), SEARCH_DELAY_MS);
  };

  const close = () => {
    // If no element had the focus before, the field would keep it until the next paint.
    field.blur();
    dialog.close();
  };

  const run = (index) => {
    const entry = options.entryAt(index);
    close();
    if (entry?.run) entry.run();
    else if (entry) location.assign(entry.path);
  };

  field.addEventListener("input", update);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") options.choose(options.chosen() + 1);
    else if (event.key === "ArrowUp") options.choose(options.chosen() - 1);
    else if (event.key === "Enter") run(options.chosen());
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  const optionAt = (event) => event.target.closest("[role=option]");
  list.addEventListener("mousemove", (event) => {
    const option = optionAt(event);
    const isChosen = option?.getAttribute("aria-selected") === "true";
    if (option && !isChosen) options.choose(options.indexOf(option));
  });
  list.addEventListener("click", (event) => {
    const option = optionAt(event);
    if (option) run(options.indexOf(option));
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) close();
  });
  dialog.addEventListener("close", stopSearch);
  // Several links and keys open the dialog. Each time it begins empty.
  new MutationObserver(() => {
    if (!dialog.open) return;
    commands = commandEntries(dialog);
    field.value = "";
    update();
    fetchMoreEntries(dialog).then((entries) => {
      more = entries;
      showEntries(field.value.trim(), false);
    });
  }).observe(dialog, { attributes: true, attributeFilter: ["open"] });
}

const paletteDialog = document.getElementById("palette");
if (paletteDialog) startPalette(paletteDialog);
