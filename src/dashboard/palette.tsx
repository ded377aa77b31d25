/** @jsxRuntime automatic @jsxImportSource #pages */
import { Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { WELCOME_PATH } from "../sign-in/paths.ts";
import { BACKUPS_PATH, HEALTH_PATH } from "./admin/admin-paths.ts";
import { MEMORY_PATHS, PATHS } from "./navigation.tsx";

/** Commands of the palette, besides the pages of the navigation and the actions of the current page. */
const COMMANDS: readonly (readonly [label: string, path: string])[] = [
  ["Add a memory", MEMORY_PATHS.new],
  ["Import memories", MEMORY_PATHS.import],
  ["Export memories", MEMORY_PATHS.exportOffer],
  ["Take the first steps", WELCOME_PATH],
];

/** More commands for the owner of the server. */
const OWNER_COMMANDS: typeof COMMANDS = [
  ["Show the security log", `${PATHS.admin}/security`],
  ["Show the backups", BACKUPS_PATH],
  ["Show the server's health", HEALTH_PATH],
];

/** Keyboard shortcuts. Single letters do nothing while text is being entered. */
const KEYS: readonly (readonly [keys: readonly string[], action: string])[] = [
  [["/"], "Search memories"],
  [["Ctrl", "K"], "Search or go to a page (⌘ K on a Mac)"],
  [["j"], "Next memory"],
  [["k"], "Previous memory"],
  [["Enter"], "Open the memory"],
  [["x"], "Select or deselect the memory"],
  [["e"], "Edit the memory"],
  [["n"], "Show new memories"],
  [["z"], "Undo the last change, for ten seconds"],
  [["Esc"], "Deselect all"],
  [["?"], "Show this list"],
];

/** The button that opens the palette. Without scripts it links to the page of memories. */
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

/** The dialogs of all pages, which scripts open: the palette and the list of keyboard shortcuts. */
export function Palette({ isOwner }: { isOwner: boolean }): Markup {
  return (
    <>
      <dialog id="palette" class="palette" aria-label="Search and commands">
        <input
          type="text"
          role="combobox"
          aria-label="Search memories or go to a page"
          aria-autocomplete="list"
          aria-expanded="true"
          aria-controls="palette-list"
          placeholder="Search memories or go to…"
          autocomplete="off"
          spellcheck="false"
          maxlength={2000}
        />
        <div id="palette-list" role="listbox" aria-label="Memories and commands" />
        <template>
          {[...COMMANDS, ...(isOwner ? OWNER_COMMANDS : [])].map(([label, path]) => (
            <a href={path}>{label}</a>
          ))}
        </template>
      </dialog>
      <dialog id="keys" aria-labelledby="keys-title">
        <h2 id="keys-title">Keyboard shortcuts</h2>
        <dl class="keys">
          {KEYS.map(([keys, action]) => (
            <>
              <dt>
                {keys.map((key, index) => (
                  <Fragment>
                    {index > 0 && " "}
                    <kbd>{key}</kbd>
                  </Fragment>
                ))}
              </dt>
              <dd>{action}</dd>
            </>
          ))}
        </dl>
        <label class="choice">
          <input type="checkbox" data-single-keys={true} />
          <span>Use single-key shortcuts in this browser</span>
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
