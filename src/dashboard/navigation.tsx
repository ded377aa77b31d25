/** @jsxRuntime automatic @jsxImportSource #pages */
import { ACCOUNT_PATH } from "../sign-in/paths.ts";

/** The paths of the pages in the navigation. */
export const PATHS = {
  overview: "/",
  memories: "/memories",
  projects: "/projects",
  activity: "/activity",
  map: "/map",
  connect: "/connect",
  keys: "/keys",
  agents: "/agents",
  account: ACCOUNT_PATH,
  admin: "/admin",
} as const;

/** Paths below the page of memories. */
export const MEMORY_PATHS = {
  new: `${PATHS.memories}/new`,
  export: `${PATHS.memories}/export`,
  /** The page with the download link. A browser that downloads a file stays on the page that it shows. */
  exportOffer: `${PATHS.memories}/export/offer`,
  import: `${PATHS.memories}/import`,
  selection: `${PATHS.memories}/selection`,
  undo: `${PATHS.memories}/selection/undo`,
  tidy: `${PATHS.memories}/tidy`,
  /** Finds all that is about a person or a subject, and deletes it. */
  forget: `${PATHS.memories}/forget`,
} as const;

/** The page of what could be tidied: all, or one kind of it. */
export function tidyPath(kind?: string): string {
  return kind === undefined ? MEMORY_PATHS.tidy : `${MEMORY_PATHS.tidy}?kind=${kind}`;
}

/** The page of the person's spaces. */
export const SPACES_PATH = "/spaces";

/** The page of a space. */
export function spacePath(id: string): string {
  return `${SPACES_PATH}/${id}`;
}

/** The page of a memory. @param day in the past that it shows; empty for the present */
export function memoryPath(id: string, day = ""): string {
  return `${PATHS.memories}/${id}${day && `?as_of=${encodeURIComponent(day)}`}`;
}

/** The page of a project. @param day as for a memory */
export function projectPath(name: string, day = ""): string {
  // No part of a path can be `.` or `..`.
  const part = /^(~|\.\.?$)/.test(name) ? `~${name}` : name;
  return `${PATHS.projects}/${encodeURIComponent(part)}${day && `?as_of=${encodeURIComponent(day)}`}`;
}

/** The project that a part of such a path names. */
export function projectOf(part: string): string {
  return part.replace(/^~/, "");
}

/** The help. It is public, as it contains nothing about this server. */
export const HELP_PATH = "/help";

export type Section = keyof typeof PATHS;

type Entry = readonly [Section, label: string, icon: string];

/**
 * Labels and icons (SVG paths in a square of 24), in the order of the navigation: memories, access for agents, and
 * accounts.
 */
const GROUPS: readonly (readonly Entry[])[] = [
  [
    ["overview", "Overview", "M4 20V11M10 20V4M16 20v-6M21 20H3"],
    ["memories", "Memories", "M5 4h14v16l-7-4-7 4zM9 9h6"],
    ["projects", "Projects", "M3 6h6l2 2.5h10V19H3z"],
    ["activity", "Activity", "M3 12h4l3-8 4 16 3-8h4"],
    [
      "map",
      "Map",
      "M9 8a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM20 11a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM14 18a3 3 0 1 1-6 0 3 3 0 0 1 6 0z",
    ],
  ],
  [
    ["connect", "Connect", "M9 7V3M15 7V3M6 7h12v4a6 6 0 0 1-12 0zM12 17v4"],
    ["agents", "Agents", "M5 9h14v10H5zM12 9V5M9.5 13v1.5M14.5 13v1.5M2 13v3M22 13v3"],
    ["keys", "API keys", "M13 9a5 5 0 1 1-10 0 5 5 0 0 1 10 0zM12 12.5l9 8.5M18 18l-2.5 2.5"],
  ],
  [
    ["account", "Account", "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0"],
    ["admin", "Admin", "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM9 12l2 2 4-4"],
  ],
];

/** Links to all pages that the person may open. */
export function Navigation({
  current,
  isOwner,
}: {
  /** The section of the current page; null for none. */
  current: Section | null;
  isOwner: boolean;
}) {
  return (
    <nav aria-label="Main">
      {GROUPS.map((entries) => (
        <ul>
          {entries
            .filter(([section]) => isOwner || section !== "admin")
            .map(([section, label, icon]) => (
              <li>
                <a href={PATHS[section]} aria-current={section === current ? "page" : undefined}>
                  <svg viewBox="0 0 24 24" aria-hidden="true">
                    <path d={icon} />
                  </svg>
                  {label}
                </a>
              </li>
            ))}
        </ul>
      ))}
    </nav>
  );
}

/** The owner's pages, besides the page of accounts. */
export const ACCOUNTS_PATH = `${PATHS.admin}/accounts`;
export const INVITATIONS_PATH = `${PATHS.admin}/invitations`;
export const ADMIN_SPACES_PATH = `${PATHS.admin}/spaces`;
export const BACKUPS_PATH = `${PATHS.admin}/backups`;
export const HEALTH_PATH = `${PATHS.admin}/health`;

/** Classes of the list and of a link, and how the shown one is marked. */
const KINDS_OF_TABS = {
  pages: ["subnav", undefined, "page"],
  views: ["tabs", "tab", "true"],
} as const;

/** A page of a part of the dashboard, or a view of a page. */
type Tab = readonly [path: string, label: string];

const ADMIN: readonly Tab[] = [
  [PATHS.admin, "Accounts"],
  [ADMIN_SPACES_PATH, "Spaces"],
  [`${PATHS.admin}/security`, "Security log"],
  [BACKUPS_PATH, "Backups"],
  [HEALTH_PATH, "Health"],
];

const ACCOUNT: readonly Tab[] = [
  [PATHS.account, "Sign-in"],
  [`${PATHS.account}/security`, "Security log"],
  [SPACES_PATH, "Spaces"],
];

/** Links between the owner's pages. @param current the path of the page that is shown */
export function AdminTabs({ current }: { current: string }) {
  return <Tabs label="Admin" tabs={ADMIN} current={current} />;
}

/** Links between the pages of a person's own account. */
export function AccountTabs({ current }: { current: string }) {
  return <Tabs label="Account" tabs={ACCOUNT} current={current} />;
}

/** Links of which one is shown: pages of a part of the dashboard, or views of one page. */
export function Tabs({
  label,
  tabs,
  current,
  of = "pages",
}: {
  /** Describes the links for screen readers. */
  label: string;
  tabs: readonly Tab[];
  /** The path that is shown. */
  current: string;
  of?: "pages" | "views";
}) {
  const [name, tab, shown] = KINDS_OF_TABS[of];
  return (
    <nav class={name} aria-label={label}>
      <ul>
        {tabs.map(([path, text]) => (
          <li>
            <a class={tab} href={path} aria-current={path === current ? shown : undefined}>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
