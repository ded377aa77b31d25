/** @jsxRuntime automatic @jsxImportSource #pages */

import { PostForm } from "../pages/form.tsx";
import { type Child, Fragment } from "../pages/jsx-runtime.ts";
import { Document, Done, Problem } from "../pages/layout.tsx";
import { Moment } from "../pages/moment.tsx";
import type { Asset } from "../pages/styles.ts";
import { SIGN_OUT_PATH, WELCOME_PATH } from "../sign-in/paths.ts";
import {
  BACKUPS_PATH,
  HEALTH_PATH,
  HELP_PATH,
  MEMORY_PATHS,
  Navigation,
  PATHS,
  type Section,
} from "./navigation.tsx";
import { mayChange, type Visit } from "./session.ts";
import { SpaceSwitch, Whose } from "./spaces/space-choice.tsx";

/** The frame of the dashboard's and the help's pages: a column at the side, and the main part. */
export function Frame({ side, children }: { side: Child; children?: Child }) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="frame">
        <header class="side">
          <a class="brand" href="/">
            ctxd
          </a>
          <button type="button" class="menu" popovertarget="side-content">
            Menu
          </button>
          <div id="side-content" class="side-content" popover="auto">
            {side}
          </div>
        </header>
        <main id="main" tabindex={-1}>
          {children}
        </main>
      </div>
    </>
  );
}

/** Commands of the palette, besides the pages of the navigation and the actions of the current page. */
const COMMANDS: readonly (readonly [label: string, path: string])[] = [
  ["Export memories", MEMORY_PATHS.export],
  ["Take the first steps", WELCOME_PATH],
];

const WRITER_COMMANDS: typeof COMMANDS = [
  ["Add a memory", MEMORY_PATHS.new],
  ["Import memories", MEMORY_PATHS.import],
  ["Tidy memories", MEMORY_PATHS.tidy],
  ["Forget a person or a subject", MEMORY_PATHS.forget],
];

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
function PaletteOpener() {
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
function Palette({ visit }: { visit: Visit }) {
  const commands = [
    ...(mayChange(visit) ? WRITER_COMMANDS : []),
    ...COMMANDS,
    ...(visit.account.role === "owner" ? OWNER_COMMANDS : []),
  ];
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
          {commands.map(([label, path]) => (
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

/** A page of the dashboard: the navigation, the heading, notices and the content. */
export function Page({
  visit,
  section,
  title,
  above,
  actions,
  lead,
  problem,
  assets,
  children,
}: {
  visit: Visit;
  /** The page's section in the navigation; null if it is in none. */
  section: Section | null;
  title: string;
  /** Tabs of related pages, above the heading. */
  above?: Child;
  /** Buttons beside the heading. */
  actions?: Child;
  lead?: Child;
  /** The error message of the form that was sent. */
  problem?: string | undefined;
  /** Scripts and stylesheets of this page only. */
  assets?: readonly Asset[];
  children?: Child;
}) {
  const { account, token, notice } = visit;
  return (
    <Document title={title} kind="app" assets={assets ?? []}>
      <Frame
        side={
          <>
            {visit.spaces.length > 0 && <SpaceSwitch visit={visit} section={section} />}
            <PaletteOpener />
            <Navigation current={section} isOwner={account.role === "owner"} />
            <div class="person">
              <p class="one-line">
                <bdi>{account.email}</bdi>
              </p>
              <div class="person-links">
                <a href={HELP_PATH}>Help</a>
                <PostForm action={SIGN_OUT_PATH} token={token}>
                  <button type="submit" class="link">
                    Sign out
                  </button>
                </PostForm>
              </div>
            </div>
          </>
        }
      >
        {visit.place && <Whose {...visit.place} />}
        {above}
        <div class="page-head spread">
          <h1>{title}</h1>
          {actions !== undefined && <div class="actions">{actions}</div>}
        </div>
        {lead !== undefined && <p class="lead">{lead}</p>}
        {notice !== null && <Done>{notice}</Done>}
        {problem !== undefined && <Problem>{problem}</Problem>}
        {children}
      </Frame>
      <Palette visit={visit} />
    </Document>
  );
}

/** One section of a page with several: a heading with an explanation, and its content beside them. */
export function Setting({
  id,
  title,
  about,
  children,
}: {
  /** Id of the heading; unique on the page. */
  id: string;
  title: Child;
  /** One or two sentences that explain the section. */
  about?: Child;
  children?: Child;
}) {
  return (
    <section class="setting" aria-labelledby={id}>
      <div class="setting-head">
        <h2 id={id}>{title}</h2>
        {about !== undefined && <p>{about}</p>}
      </div>
      <div class="setting-body">{children}</div>
    </section>
  );
}

/** A name and its value, within a `dl`. */
export function Fact({ name, children }: { name: string; children?: Child }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** The name of a time, and the time. */
export function TimeFact({ name, ...time }: { name: string } & Parameters<typeof Moment>[0]) {
  return (
    <Fact name={name}>
      <Moment {...time} />
    </Fact>
  );
}
