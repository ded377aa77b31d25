/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import type { Etags } from "../http/etag.ts";
import { wholeAccount } from "../keys/reach.ts";
import type { Memories } from "../memories/memories.ts";
import type { Memory, MemoryChanges, MemorySource } from "../memories/memory.ts";
import { countOf } from "./count-of.ts";
import { type Guard, PAGE_ROUTE, type Visit } from "./guard.tsx";
import type { Live } from "./live.ts";
import { MEMORY_PATHS, MemoriesPage, type Shown } from "./memories-page.tsx";
import { listRequest, readView, searchRequest, type View } from "./memories-view.ts";
import {
  changesOf,
  type Entries,
  entriesAfter,
  entriesOf,
  NOTHING_ENTERED,
  newMemoryOf,
  readEntries,
} from "./memory-form.ts";
import { MOST_OF_HISTORY } from "./memory-history.tsx";
import { MemoryPage, MemoryQuestion, NewMemoryPage, pathOf } from "./memory-page.tsx";
import type { ListSources } from "./memory-sources.ts";
import { PATHS } from "./navigation.tsx";
import { createProjectCounts } from "./project-counts.ts";
import { createSelectionRoutes } from "./selection-routes.tsx";
import { credentialOf } from "./session-principal.ts";

/** Bytes of the form of a memory: every character of the longest text can take twelve. */
const MAX_FORM = 512 << 10;

type Service = Pick<
  Memories,
  | "count"
  | "find"
  | "get"
  | "history"
  | "list"
  | "move"
  | "moveThese"
  | "remove"
  | "removeMatching"
  | "retention"
  | "save"
  | "search"
  | "secrets"
  | "stats"
  | "update"
>;

/** The pages of memories: search and browse, add, open, change, delete, and many at once. */
export function createMemoryPageRoutes(dependencies: {
  guard: Guard;
  memories: Service;
  etags: Etags;
  listSources: ListSources;
  live: Pick<Live, "positionOf">;
}) {
  return new Elysia()
    .use(createListRoutes(dependencies))
    .use(createNewMemoryRoutes(dependencies))
    .use(createSelectionRoutes(dependencies))
    .use(createMemoryRoutes(dependencies));
}

function createListRoutes({
  guard,
  memories,
  listSources,
  live,
}: {
  guard: Guard;
  memories: Service;
  listSources: ListSources;
  live: Pick<Live, "positionOf">;
}) {
  const find = async (accountId: string, view: View): Promise<Shown> => {
    const reach = wholeAccount(accountId);
    if (view.q !== "") {
      return { kind: "found", ...(await memories.search(reach, searchRequest(view))) };
    }
    const request = listRequest(view);
    const [page, total] = await Promise.all([
      memories.list(reach, request),
      memories.count(reach, request.filter),
    ]);
    return { kind: "list", ...page, total };
  };

  const countsOf = createProjectCounts({ memories });

  /** What stands around the results; where those alone are asked for, nothing. */
  const around = async (request: Request, { account }: Visit) => {
    if (request.headers.has("hx-request")) return { projects: [], sources: [] };
    const [projects, sources] = await Promise.all([countsOf(account.id), listSources(account)]);
    return { projects, sources };
  };

  return new Elysia().get(
    PATHS.memories,
    ({ request }) =>
      guard.show(request, async (visit) => {
        const view = readView(visit.url.searchParams);
        // Before what it tells of: what comes meanwhile is asked for once more.
        const position = await live.positionOf("memories", visit.account.id);
        const frame = { visit, view, position, ...(await around(request, visit)) };
        try {
          return <MemoriesPage {...frame} shown={await find(visit.account.id, view)} />;
        } catch (error) {
          if (!(error instanceof AppError) || error.status >= 500) throw error;
          return <MemoriesPage {...frame} shown={null} problem={error.message} />;
        }
      }),
    PAGE_ROUTE,
  );
}

function createNewMemoryRoutes({ guard, memories }: { guard: Guard; memories: Service }) {
  /** What the form says is no longer true. */
  const formerOf = async (accountId: string, id: string | null): Promise<Memory | null> =>
    id ? await memories.get(wholeAccount(accountId), id) : null;

  return new Elysia()
    .get(
      MEMORY_PATHS.new,
      ({ request }) =>
        guard.show(request, async (visit) => {
          const { searchParams } = visit.url;
          const former = await formerOf(visit.account.id, searchParams.get("supersedes"));
          const project = searchParams.get("project") ?? "";
          const entries = former ? entriesAfter(former) : { ...NOTHING_ENTERED, project };
          return <NewMemoryPage visit={visit} entries={entries} former={former} />;
        }),
      PAGE_ROUTE,
    )
    .post(
      PATHS.memories,
      ({ request }) =>
        guard.act(
          request,
          async ({ account }, form) => {
            const input = newMemoryOf(readEntries(form));
            const { memory, isNew } = await memories.save(wholeAccount(account.id), input, {
              source: sourceOf(account),
            });
            const notice = isNew ? "The memory is saved." : "This is known already, just so.";
            return { to: pathOf(memory), notice: notice + secretNotice(memories, input) };
          },
          async (visit, problem, form) => {
            const entries = readEntries(form);
            const reach = wholeAccount(visit.account.id);
            const former = await memories.find(reach, entries.supersedes);
            return (
              <NewMemoryPage visit={visit} entries={entries} former={former} problem={problem} />
            );
          },
          MAX_FORM,
        ),
      PAGE_ROUTE,
    );
}

function createMemoryRoutes({
  guard,
  memories,
  etags,
}: {
  guard: Guard;
  memories: Service;
  etags: Etags;
}) {
  const historyOf = async (accountId: string, memory: Memory): Promise<readonly Memory[]> => {
    if (memory.supersedes === null && memory.superseded_by === null) return [];
    const limit = MOST_OF_HISTORY;
    return (await memories.history(wholeAccount(accountId), memory.id, { limit })).memories;
  };

  const page = async (
    visit: Visit,
    memory: Memory,
    entries: Entries,
    problem?: string,
    etag?: string,
  ) => (
    <MemoryPage
      visit={visit}
      memory={memory}
      history={await historyOf(visit.account.id, memory)}
      etag={etag ?? (await etags.maker())(memory)}
      retention={memories.retention(memory)}
      entries={entries}
      {...(problem !== undefined && { problem })}
    />
  );

  return new Elysia()
    .get(
      `${PATHS.memories}/:id`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          const memory = await memories.get(wholeAccount(visit.account.id), params.id);
          return page(visit, memory, entriesOf(memory));
        }),
      PAGE_ROUTE,
    )
    .post(
      `${PATHS.memories}/:id`,
      ({ request, params }) =>
        guard.act(
          request,
          async ({ account }, form) => {
            const present = await memories.get(wholeAccount(account.id), params.id);
            const changes = changesOf(readEntries(form), present);
            const etagOf = await etags.maker();
            const isShown = (memory: Memory) => etagOf(memory) === form.get("etag");
            if (changes) {
              const source = sourceOf(account);
              await memories.update(wholeAccount(account.id), params.id, changes, {
                source,
                isExpected: isShown,
              });
            }
            const notice = changes
              ? `The changes are saved.${secretNotice(memories, changes)}`
              : "Nothing has changed.";
            return { to: pathOf(present), notice };
          },
          async (visit, problem, form) => {
            const memory = await memories.get(wholeAccount(visit.account.id), params.id);
            // With the old ETag, so that what was changed meanwhile is not written over unseen.
            const etag = form.get("etag") ?? "";
            return page(visit, memory, readEntries(form), problem, etag);
          },
          MAX_FORM,
        ),
      PAGE_ROUTE,
    )
    .get(
      `${PATHS.memories}/:id/delete`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          const memory = await memories.get(wholeAccount(visit.account.id), params.id);
          return <MemoryQuestion visit={visit} memory={memory} />;
        }),
      PAGE_ROUTE,
    )
    .post(
      `${PATHS.memories}/:id/delete`,
      ({ request, params }) =>
        guard.act(request, async ({ account }, form) => {
          const withHistory = form.has("history");
          const count = await memories.remove(wholeAccount(account.id), params.id, withHistory);
          const notice = withHistory
            ? `Deleted for good: ${countOf(count)}.`
            : "The memory is deleted for good.";
          return { to: PATHS.memories, notice };
        }),
      PAGE_ROUTE,
    );
}

function sourceOf(account: Visit["account"]): MemorySource {
  return { via: "dashboard", ...credentialOf(account) };
}

/** What to add where something was saved that looks like a secret; empty else. */
function secretNotice({ secrets }: Pick<Service, "secrets">, texts: MemoryChanges): string {
  const kinds = secrets.warnings(texts)?.warnings.map(({ message }) => message) ?? [];
  return kinds.map((kind) => ` ${kind}`).join("");
}
