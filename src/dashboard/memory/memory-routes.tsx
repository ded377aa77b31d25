/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Etags } from "../../http/responses.ts";
import { wholeAccount } from "../../keys/reach.ts";
import type { Memory } from "../../memories/model/memory.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import { memoryCount } from "../../text/number-text.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import { type Guard, PAGE_ROUTE } from "../guard.tsx";
import { MEMORY_PATHS, memoryPath, PATHS } from "../navigation.tsx";
import { ownSource } from "../session.ts";
import { EditMemoryPage, NewMemoryPage } from "./memory-edit-page.tsx";
import {
  changesOf,
  entriesAfter,
  entriesOf,
  MAX_FORM,
  NOTHING_ENTERED,
  newMemoryOf,
  readEntries,
  secretNotice,
} from "./memory-form.ts";
import { MAX_VERSIONS } from "./memory-history.tsx";
import { type Context, MemoryPage, MemoryQuestion } from "./memory-page.tsx";
import { MAX_SESSION_MEMORIES, MAX_SIMILAR } from "./related-memories.tsx";

type EditService = Pick<Memories, "find" | "get" | "save" | "secrets" | "update">;

/** The pages for adding and editing memories. */
export function createMemoryEditRoutes({
  guard,
  memories,
  etags,
}: {
  guard: Guard;
  memories: EditService;
  etags: Etags;
}) {
  return new Elysia()
    .use(createNewRoutes({ guard, memories }))
    .get(
      `${PATHS.memories}/:id/edit`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          const memory = await memories.get(wholeAccount(visit.account.id), params.id);
          const etag = (await etags.maker())(memory);
          const entries = entriesOf(memory);
          return <EditMemoryPage visit={visit} memory={memory} etag={etag} entries={entries} />;
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
              const source = ownSource(account);
              await memories.update(wholeAccount(account.id), params.id, changes, {
                source,
                isExpected: isShown,
              });
            }
            const notice = changes
              ? `The changes are saved.${secretNotice(memories, changes)}`
              : "Nothing has changed.";
            return { to: memoryPath(present.id), notice };
          },
          async (visit, problem, form) => {
            const memory = await memories.get(wholeAccount(visit.account.id), params.id);
            // The ETag stays the old one, so that sending the form again does not overwrite a change the person has not seen.
            const etag = form.get("etag") ?? "";
            const entries = readEntries(form);
            return (
              <EditMemoryPage
                visit={visit}
                memory={memory}
                etag={etag}
                entries={entries}
                problem={problem}
              />
            );
          },
          MAX_FORM,
        ),
      PAGE_ROUTE,
    );
}

function createNewRoutes({ guard, memories }: { guard: Guard; memories: EditService }) {
  /** The memory that the form replaces; null if none. */
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
              source: ownSource(account),
            });
            const notice = isNew ? "The memory is saved." : "You already have this memory.";
            return { to: memoryPath(memory.id), notice: notice + secretNotice(memories, input) };
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

/** Milliseconds that the page waits for similar memories. After a start the server must load the memories first. */
const SIMILAR_TIMEOUT_MS = 1_000;

type Service = Pick<
  Memories,
  "fading" | "get" | "history" | "inSession" | "near" | "remove" | "update"
>;

/** The page of a memory, and its forms. */
export function createMemoryPageRoutes({ guard, memories }: { guard: Guard; memories: Service }) {
  /** The newest versions; if the memory is not among them, the versions from it on. */
  const historyOf = async (
    accountId: string,
    memory: Memory,
  ): Promise<Pick<Context, "history" | "current">> => {
    const { id, supersedes, superseded_by } = memory;
    if (supersedes === null && superseded_by === null) return { history: [], current: null };
    const limit = MAX_VERSIONS;
    const read = async (from?: string) =>
      (await memories.history(wholeAccount(accountId), id, { limit, from })).memories;
    const newest = await read();
    const history = newest.some((each) => each.id === id) ? newest : await read(id);
    return { history, current: superseded_by === null ? null : (newest[0] ?? null) };
  };

  const contextOf = async (accountId: string, memory: Memory): Promise<Context> => {
    const reach = wholeAccount(accountId);
    const [{ history, current }, inSession, near] = await Promise.all([
      historyOf(accountId, memory),
      memories.inSession(reach, memory.id, MAX_SESSION_MEMORIES),
      withTimeLimit(memories.near(reach, memory.id), SIMILAR_TIMEOUT_MS, () => null),
    ]);
    const shown = new Set([...history, ...(current ? [current] : [])].map(({ id }) => id));
    return {
      history,
      current,
      before: inSession.before,
      after: inSession.after,
      fading: memories.fading(memory),
      similar: near?.filter((each) => !shown.has(each.memory.id)).slice(0, MAX_SIMILAR) ?? null,
    };
  };

  return new Elysia()
    .get(
      `${PATHS.memories}/:id`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          const { id } = visit.account;
          const memory = await memories.get(wholeAccount(id), params.id);
          return <MemoryPage visit={visit} memory={memory} context={await contextOf(id, memory)} />;
        }),
      PAGE_ROUTE,
    )
    .post(
      `${PATHS.memories}/:id/pin`,
      ({ request, params }) =>
        guard.act(request, async ({ account }, form) => {
          const pinned = form.get("pinned") === "1";
          const memory = await memories.update(
            wholeAccount(account.id),
            params.id,
            { pinned },
            { source: ownSource(account) },
          );
          const notice = pinned
            ? "The memory is pinned: it never fades."
            : "The memory is no longer pinned: it fades.";
          return { to: memoryPath(memory.id), notice };
        }),
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
            ? `Deleted permanently: ${memoryCount(count)}.`
            : "The memory is deleted permanently.";
          return { to: PATHS.memories, notice };
        }),
      PAGE_ROUTE,
    );
}
