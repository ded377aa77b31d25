/** @jsxRuntime automatic @jsxImportSource #pages */

import { Elysia } from "elysia";
import accounts from "../../help/accounts.md" with { type: "text" };
import agents from "../../help/agents.md" with { type: "text" };
import api from "../../help/api.md" with { type: "text" };
import backUp from "../../help/back-up.md" with { type: "text" };
import capture from "../../help/capture.md" with { type: "text" };
import clients from "../../help/clients.md" with { type: "text" };
import importExport from "../../help/import-export.md" with { type: "text" };
import install from "../../help/install.md" with { type: "text" };
import machines from "../../help/machines.md" with { type: "text" };
import measurements from "../../help/measurements.md" with { type: "text" };
import monitoring from "../../help/monitoring.md" with { type: "text" };
import projects from "../../help/projects.md" with { type: "text" };
import quickStart from "../../help/quick-start.md" with { type: "text" };
import replicas from "../../help/replicas.md" with { type: "text" };
import search from "../../help/search.md" with { type: "text" };
import security from "../../help/security.md" with { type: "text" };
import settings from "../../help/settings.md" with { type: "text" };
import spaces from "../../help/spaces.md" with { type: "text" };
import systems from "../../help/systems.md" with { type: "text" };
import terminal from "../../help/terminal.md" with { type: "text" };
import upgrade from "../../help/upgrade.md" with { type: "text" };
import type { Child, Markup } from "../../pages/jsx-runtime.ts";
import { Document } from "../../pages/layout.tsx";
import { PAGE_ROUTE, pageResponse } from "../../pages/page-response.tsx";
import { HELP_PATH } from "../navigation.tsx";
import { Frame } from "../page.tsx";
import { AGENT_PAGES, AgentTable, loadFormats } from "./agent-pages.tsx";
import { createHelpSearch, HelpResults, HelpSearchForm, wordsOf } from "./help-search.tsx";
import { markdown } from "./markdown.ts";

/** The help pages by subject. A page's name is also its file name and its path. */
const GROUPS = [
  {
    title: "Begin",
    pages: [
      { name: "quick-start", label: "Quick start", text: quickStart },
      { name: "install", label: "Install", text: install },
      { name: "agents", label: "Connect agents", text: agents },
      { name: "machines", label: "Several machines", text: machines },
      { name: "accounts", label: "Accounts and sign-in", text: accounts },
    ],
  },
  {
    title: "Use",
    pages: [
      { name: "capture", label: "Capture and recall", text: capture },
      { name: "projects", label: "Projects", text: projects },
      { name: "spaces", label: "Share in a team", text: spaces },
      { name: "terminal", label: "In a terminal", text: terminal },
      { name: "search", label: "How memories are found", text: search },
      { name: "import-export", label: "Import and export", text: importExport },
      { name: "api", label: "The API", text: api },
      { name: "clients", label: "Clients for programs", text: clients },
    ],
  },
  {
    title: "Run",
    pages: [
      { name: "settings", label: "Settings", text: settings },
      { name: "back-up", label: "Back up and restore", text: backUp },
      { name: "upgrade", label: "Upgrade", text: upgrade },
      { name: "monitoring", label: "Monitoring", text: monitoring },
      { name: "security", label: "Security", text: security },
      { name: "replicas", label: "Run several replicas", text: replicas },
      { name: "systems", label: "Linux, macOS, Windows", text: systems },
      { name: "measurements", label: "Measurements", text: measurements },
    ],
  },
];
export const HELP_PAGES = [...GROUPS.flatMap(({ pages }) => pages), ...AGENT_PAGES];

/** Names that pages had before, with their names now. A browser keeps the heading of the address. */
const MOVED = { connect: "agents", move: "import-export", scale: "replicas", watch: "monitoring" };

/** The help, which works offline: pages and a search at `/help`, and each page at `/help/NAME`. */
export function createHelpRoutes() {
  const find = createHelpSearch(HELP_PAGES);
  const routes = new Elysia().get(
    HELP_PATH,
    async ({ request }) => {
      await loadFormats();
      const question = new URL(request.url).searchParams.get("q") ?? "";
      const words = wordsOf(question);
      return pageResponse(
        <HelpPage title="Help">
          <h1>Help</h1>
          <HelpSearchForm question={question} />
          {words.length > 0 ? (
            <HelpResults words={words} results={find(words)} />
          ) : (
            <>
              <p>
                New here? The <a href={`${HELP_PATH}/quick-start`}>quick start</a> takes ten
                minutes.
              </p>
              <Contents label="All pages" />
            </>
          )}
        </HelpPage>,
      );
    },
    PAGE_ROUTE,
  );
  for (const page of HELP_PAGES) {
    let rendered: Markup | null = null;
    // Rendered at the first request: all pages together would take 20 ms at the start.
    const answer = async () => {
      await loadFormats();
      rendered ??= (
        <HelpPage title={page.label} current={page.name}>
          {markdown(page.text)}
          {page.name === "agents" && <AgentTable />}
        </HelpPage>
      );
      return pageResponse(rendered);
    };
    routes.get(`${HELP_PATH}/${page.name}`, answer, PAGE_ROUTE);
  }
  for (const [former, name] of Object.entries(MOVED)) {
    const headers = { location: `${HELP_PATH}/${name}` };
    routes.get(
      `${HELP_PATH}/${former}`,
      () => new Response(null, { status: 301, headers }),
      PAGE_ROUTE,
    );
  }
  return routes;
}

/** A help page, with the search and links to all others at the side. */
function HelpPage({
  title,
  current,
  children,
}: {
  title: string;
  /** Name of the page; undefined for the list of pages, which has the search itself. */
  current?: string;
  children?: Child;
}) {
  return (
    <Document title={title} kind="help">
      <Frame
        side={
          <>
            {current !== undefined && <HelpSearchForm />}
            <Contents label="Help" {...(current !== undefined && { current })} />
          </>
        }
      >
        {children}
      </Frame>
    </Document>
  );
}

function Contents({ label, current }: { label: string; current?: string }) {
  /** The pages of agents are below the page *Connect agents*. */
  const isCurrent = (name: string) => {
    if (name === current) return "page";
    return current?.startsWith(`${name}/`) ? "true" : undefined;
  };
  return (
    <nav aria-label={label} class="contents">
      {GROUPS.map(({ title, pages }) => (
        <>
          <p class="contents-title">{title}</p>
          <ul>
            {pages.map(({ name, label }) => (
              <li>
                <a href={`${HELP_PATH}/${name}`} aria-current={isCurrent(name)}>
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </>
      ))}
    </nav>
  );
}
