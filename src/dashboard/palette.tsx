/** @jsxRuntime automatic @jsxImportSource #pages */
import { Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { WELCOME_PATH } from "../sign-in/paths.ts";
import { BACKUPS_PATH, HEALTH_PATH } from "./admin-paths.ts";
import { MEMORY_PATHS, PATHS } from "./navigation.tsx";

/** What the palette offers besides the pages of the navigation and what the page itself offers. */
const COMMANDS: readonly (readonly [label: string, path: string])[] = [
  ["Add a memory", MEMORY_PATHS.new],
  ["Import memories", MEMORY_PATHS.import],
  ["Export memories", MEMORY_PATHS.exportOffer],
  ["Take the first steps", WELCOME_PATH],
];

/** And to the owner of the server. */
const OWNERS: typeof COMMANDS = [
  ["See the security log", `${PATHS.admin}/security`],
  ["See the backups", BACKUPS_PATH],
  ["See the server's health", HEALTH_PATH],
];

/** Keys and what they do. A letter alone does something only where no text is being entered. */
const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["/"], "Search memories"],
  [["Ctrl", "K"], "Search, or go to a page; ⌘ K on a Mac"],
  [["j"], "Next memory"],
  [["k"], "Memory before"],
  [["Enter"], "Open it"],
  [["x"], "Select it, or no longer"],
  [["e"], "Edit it"],
  [["n"], "Show new memories"],
  [["z"], "Undo, as long as it can be undone"],
  [["Esc"], "Select none"],
  [["?"], "Show these keys"],
];

/** Opens the palette where scripts run; elsewhere it leads to where memories are searched. */
export function PaletteOpener(): Markup {
  return (
    <a class="opener" href={PATHS.memories} data-opens="palette" aria-keyshortcuts="Control+K">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM20 20l-4.9-4.9" />
      </svg>
      Search
      <kbd hidden={true}>Ctrl K</kbd>
    </a>
  );
}

/** Dialogs of all pages, which scripts open: the palette and the list of keys. */
export function Palette({ isOwner }: { isOwner: boolean }): Markup {
  return (
    <>
      <dialog id="palette" class="palette" aria-label="Search and commands">
        <input
          type="text"
          role="combobox"
          aria-label="Search memories, or go to a page"
          aria-autocomplete="list"
          aria-expanded="true"
          aria-controls="palette-list"
          placeholder="Search memories, or go to…"
          autocomplete="off"
          spellcheck="false"
          maxlength={2000}
        />
        <div id="palette-list" role="listbox" aria-label="Answers and commands" />
        <template>
          {[...COMMANDS, ...(isOwner ? OWNERS : [])].map(([label, path]) => (
            <a href={path}>{label}</a>
          ))}
        </template>
      </dialog>
      <dialog id="keys" aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl class="keys">
          {KEYS.map(([keys, what]) => (
            <>
              <dt>
                {keys.map((key, index) => (
                  <Fragment>
                    {index > 0 && " "}
                    <kbd>{key}</kbd>
                  </Fragment>
                ))}
              </dt>
              <dd>{what}</dd>
            </>
          ))}
        </dl>
        <label class="choice">
          <input type="checkbox" data-single-keys={true} />
          <span>Keys without Ctrl work in this browser</span>
        </label>
        <form method="dialog" class="actions">
          <button type="submit" class="plain" autofocus={true}>
            Close
          </button>
        </form>
      </dialog>
    </>
  );
}
