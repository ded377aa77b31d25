/** @jsxRuntime automatic @jsxImportSource #pages */
import { createPagedStream } from "../../http/responses.ts";
import { orProblem } from "../../pages/page-response.tsx";
import type { SecurityRecord } from "../../security-log/event-store.ts";
import { CSV_HEAD, toCsv, toJson } from "../../security-log/formats.ts";
import { createPause } from "../../timing/pause.ts";
import type { Parts } from "../parts.ts";
import { requireOwner, type Visit } from "../session.ts";
import { SECURITY_PATHS, SecurityPage, type SecurityScope } from "./security-page.tsx";
import { beforeOf, filterOf, readSecurityView, type SecurityView } from "./security-view.ts";

/** Events per page. */
const PAGE_SIZE = 40;
/** Events read at a time for a download. */
const BATCH = 500;

/** The pages and downloads of the security log, for the owner and for every account. */
export function addSecurityPages({ config, pages, accounts, securityLog }: Parts): void {
  /** The account whose events are shown; null for all accounts. */
  const accountOf = async (
    visit: Visit,
    scope: SecurityScope,
    { account }: SecurityView,
  ): Promise<string | null> => {
    if (scope === "account") return visit.account.id;
    requireOwner(visit);
    return account === "" ? null : ((await accounts.findByEmail(account))?.id ?? account);
  };

  /** In a person's own log, hides who the owner of the server was and where the owner acted from. */
  const visibleTo = (scope: SecurityScope) => (event: SecurityRecord) =>
    scope === "account" && event.actorId !== null
      ? { ...event, actorId: null, address: null, agent: null }
      : event;

  const show = async (visit: Visit, scope: SecurityScope) => {
    const view = readSecurityView(visit.url.searchParams);
    const accountId = await accountOf(visit, scope, view);
    await securityLog.flush();
    // For an invalid filter the page shows an empty list with the message.
    const { result, problem } = await orProblem(async () =>
      securityLog.list(accountId, filterOf(view), { limit: PAGE_SIZE + 1, before: beforeOf(view) }),
    );
    const found = result ?? [];
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

  const download = async (visit: Visit, scope: SecurityScope): Promise<Response> => {
    const view = readSecurityView(visit.url.searchParams);
    const accountId = await accountOf(visit, scope, view);
    const filter = filterOf(view);
    const isCsv = visit.url.searchParams.get("format") !== "json";
    await securityLog.flush();
    const pages = batches(async (before) => {
      const found = await securityLog.list(accountId, filter, { limit: BATCH, before });
      return found.map(visibleTo(scope));
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

  for (const scope of ["admin", "account"] as const) {
    const path = SECURITY_PATHS[scope];
    pages.get(path, (visit) => show(visit, scope));
    pages.get(`${path}/download`, (visit) => download(visit, scope));
  }
}

/** Reads all events in batches, newest first. */
async function* batches(list: (before: number | null) => Promise<SecurityRecord[]>) {
  const pause = createPause();
  let before: number | null = null;
  for (;;) {
    const found = await list(before);
    if (found.length > 0) yield found;
    if (found.length < BATCH) return;
    before = found.at(-1)?.id ?? null;
    await pause();
  }
}

/** Yields null first if the file begins with a line of column names. */
async function* withHead(pages: AsyncGenerator<SecurityRecord[]>, hasHead: boolean) {
  if (hasHead) yield null;
  yield* pages;
}
