/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Accounts } from "../accounts/accounts.ts";
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { createPagedStream } from "../http/paged-stream.ts";
import type { SecurityRecord } from "../security-log/event-store.ts";
import { CSV_HEAD, toCsv, toJson } from "../security-log/formats.ts";
import type { SecurityLog } from "../security-log/security-log.ts";
import { type Guard, PAGE_ROUTE } from "./guard.tsx";
import { SECURITY_PATHS, SecurityPage } from "./security-page.tsx";
import { beforeOf, filterOf, readSecurityView, type SecurityView } from "./security-view.ts";
import { requireOwner, type Visit } from "./visit.ts";

/** Events on a page, and in one portion of a download. */
const PAGE_SIZE = 40;
const PORTION = 500;

type Scope = keyof typeof SECURITY_PATHS;

/** The security log: all of it for the owner, and everybody's own part of it. */
export function createSecurityRoutes({
  config,
  guard,
  accounts,
  securityLog,
}: {
  config: Pick<Config, "securityLogDays">;
  guard: Guard;
  accounts: Pick<Accounts, "find" | "findByEmail">;
  securityLog: Pick<SecurityLog, "list" | "flush">;
}) {
  /** Whose events a page shows; null for everybody's. */
  const whose = async (
    visit: Visit,
    scope: Scope,
    { account }: SecurityView,
  ): Promise<string | null> => {
    if (scope === "account") return visit.account.id;
    requireOwner(visit);
    return account === "" ? null : ((await accounts.findByEmail(account))?.id ?? account);
  };

  /** Nobody learns by his own events where others are. */
  const tellTo = (scope: Scope) => (event: SecurityRecord) =>
    scope === "account" && event.actorId !== null
      ? { ...event, actorId: null, address: null, agent: null }
      : event;

  const show = async (visit: Visit, scope: Scope) => {
    const view = readSecurityView(visit.url.searchParams);
    const accountId = await whose(visit, scope, view);
    await securityLog.flush();
    const list = () =>
      securityLog.list(accountId, filterOf(view), { limit: PAGE_SIZE + 1, before: beforeOf(view) });
    const { found, problem } = await explained(list);
    const events = found.slice(0, PAGE_SIZE);
    const ids = new Set(events.flatMap((event) => [event.accountId, event.actorId]));
    return (
      <SecurityPage
        visit={visit}
        scope={scope}
        view={view}
        events={events}
        next={found.length > PAGE_SIZE ? (events.at(-1)?.id ?? null) : null}
        days={config.securityLogDays}
        emails={await emailsOf(ids)}
        problem={problem}
      />
    );
  };

  const emailsOf = async (ids: ReadonlySet<string | null>) => {
    const named = [...ids].filter((id) => id !== null);
    const known = await Promise.all(named.map((id) => accounts.find(id)));
    return new Map(known.flatMap((account) => (account ? [[account.id, account.email]] : [])));
  };

  const download = async (visit: Visit, scope: Scope): Promise<Response> => {
    const view = readSecurityView(visit.url.searchParams);
    const accountId = await whose(visit, scope, view);
    const filter = filterOf(view);
    const isCsv = visit.url.searchParams.get("format") !== "json";
    await securityLog.flush();
    const pages = portions(async (before) => {
      const found = await securityLog.list(accountId, filter, { limit: PORTION, before });
      return found.map(tellTo(scope));
    });
    const encode = isCsv ? toCsv : (event: SecurityRecord) => `${JSON.stringify(toJson(event))}\n`;
    const body = createPagedStream(withHead(pages, isCsv), (page) =>
      Buffer.from(page === null ? CSV_HEAD : page.map(encode).join("")),
    );
    const name = `ctxd-security.${isCsv ? "csv" : "jsonl"}`;
    return new Response(body, {
      headers: {
        "content-type": isCsv ? "text/csv; charset=utf-8" : "application/x-ndjson",
        "content-disposition": `attachment; filename="${name}"`,
      },
    });
  };

  const routes = new Elysia();
  for (const scope of ["admin", "account"] as const) {
    const path = SECURITY_PATHS[scope];
    routes
      .get(path, ({ request }) => guard.show(request, (visit) => show(visit, scope)), PAGE_ROUTE)
      .get(
        `${path}/download`,
        ({ request }) => guard.show(request, (visit) => download(visit, scope)),
        PAGE_ROUTE,
      );
  }
  return routes;
}

/** What is wrong with what was asked for stands above an empty list. */
async function explained(list: () => Promise<SecurityRecord[]>) {
  try {
    return { found: await list() };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return { found: [], problem: error.message };
  }
}

/** All events, some at a time, the newest first. */
async function* portions(list: (before: number | null) => Promise<SecurityRecord[]>) {
  let before: number | null = null;
  for (;;) {
    const found = await list(before);
    if (found.length > 0) yield found;
    if (found.length < PORTION) return;
    before = found.at(-1)?.id ?? null;
  }
}

/** Null stands for the line that names the columns. */
async function* withHead(pages: AsyncGenerator<SecurityRecord[]>, hasHead: boolean) {
  if (hasHead) yield null;
  yield* pages;
}
