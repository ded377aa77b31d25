/** @jsxRuntime automatic @jsxImportSource #pages */

import { Elysia } from "elysia";
import accounts from "../../help/accounts.md" with { type: "text" };
import agents from "../../help/agents.md" with { type: "text" };
import api from "../../help/api.md" with { type: "text" };
import backUp from "../../help/back-up.md" with { type: "text" };
import capture from "../../help/capture.md" with { type: "text" };
import clients from "../../help/clients.md" with { type: "text" };
import connect from "../../help/connect.md" with { type: "text" };
import install from "../../help/install.md" with { type: "text" };
import machines from "../../help/machines.md" with { type: "text" };
import move from "../../help/move.md" with { type: "text" };
import projects from "../../help/projects.md" with { type: "text" };
import scale from "../../help/scale.md" with { type: "text" };
import search from "../../help/search.md" with { type: "text" };
import security from "../../help/security.md" with { type: "text" };
import settings from "../../help/settings.md" with { type: "text" };
import systems from "../../help/systems.md" with { type: "text" };
import terminal from "../../help/terminal.md" with { type: "text" };
import upgrade from "../../help/upgrade.md" with { type: "text" };
import watch from "../../help/watch.md" with { type: "text" };
import type { Child, Markup } from "../../pages/jsx-runtime.ts";
import { Document } from "../../pages/layout.tsx";
import { PAGE_ROUTE, pageResponse } from "../../pages/page-response.tsx";
import { markdown } from "../markdown.tsx";
import { HELP_PATH } from "../navigation.tsx";
import { Frame } from "../page.tsx";

/** The help pages by subject. A page's name is also its file name and its path. */
const GROUPS = [
  {
    title: "Begin",
    pages: [
      { name: "install", label: "Install", text: install },
      { name: "systems", label: "Linux, macOS and Windows", text: systems },
      { name: "accounts", label: "Accounts and sign-in", text: accounts },
      { name: "connect", label: "Connect an agent", text: connect },
      { name: "agents", label: "Every agent, step by step", text: agents },
      { name: "machines", label: "Several machines", text: machines },
    ],
  },
  {
    title: "Use",
    pages: [
      { name: "terminal", label: "In a terminal", text: terminal },
      { name: "projects", label: "Projects", text: projects },
      { name: "capture", label: "Remember by itself", text: capture },
      { name: "search", label: "How memories are found", text: search },
      { name: "api", label: "The API", text: api },
      { name: "clients", label: "Clients for programs", text: clients },
      { name: "move", label: "Move in and out", text: move },
    ],
  },
  {
    title: "Run",
    pages: [
      { name: "settings", label: "Settings", text: settings },
      { name: "back-up", label: "Back up and restore", text: backUp },
      { name: "upgrade", label: "Upgrade", text: upgrade },
      { name: "scale", label: "Outgrow one machine", text: scale },
      { name: "watch", label: "Watch and limit", text: watch },
      { name: "security", label: "Security", text: security },
    ],
  },
];
export const HELP_PAGES = GROUPS.flatMap(({ pages }) => pages);

/** The help, which works offline: a list of pages at `/help`, and each page at `/help/NAME`. */
export function createHelpRoutes() {
  const routes = new Elysia().get(
    HELP_PATH,
    () =>
      pageResponse(
        <HelpPage title="Help">
          <h1>Help</h1>
          <Contents label="All pages" />
        </HelpPage>,
      ),
    PAGE_ROUTE,
  );
  for (const { name, label, text } of HELP_PAGES) {
    let page: Markup | null = null;
    // Rendered at the first request: all pages together would take 20 ms at the start.
    const answer = () => {
      page ??= (
        <HelpPage title={label} current={name}>
          {markdown(text)}
        </HelpPage>
      );
      return pageResponse(page);
    };
    routes.get(`${HELP_PATH}/${name}`, answer, PAGE_ROUTE);
  }
  return routes;
}

/** A help page, with links to all others at the side. */
function HelpPage({
  title,
  current,
  children,
}: {
  title: string;
  /** Name of the page; undefined for the list of pages. */
  current?: string;
  children?: Child;
}) {
  return (
    <Document title={title} kind="help">
      <Frame side={<Contents label="Help" {...(current !== undefined && { current })} />}>
        {children}
      </Frame>
    </Document>
  );
}

function Contents({ label, current }: { label: string; current?: string }) {
  return (
    <nav aria-label={label} class="contents">
      {GROUPS.map(({ title, pages }) => (
        <>
          <p class="contents-title">{title}</p>
          <ul>
            {pages.map(({ name, label }) => (
              <li>
                <a
                  href={`${HELP_PATH}/${name}`}
                  aria-current={name === current ? "page" : undefined}
                >
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
