/** @jsxRuntime automatic @jsxImportSource #pages */

import { Elysia } from "elysia";
import { wholeAccount } from "../../keys/reach.ts";
import type { Memory } from "../../memories/model/memory.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import { memoryCount } from "../../text/number-text.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import { type Guard, PAGE_ROUTE } from "../guard.tsx";
import { memoryPath, PATHS } from "../navigation.tsx";
import { ownSource } from "../session-principal.ts";
import { MAX_VERSIONS } from "./memory-history.tsx";
import { type Context, MemoryPage, MemoryQuestion } from "./memory-page.tsx";
import { MAX_SESSION_MEMORIES, MAX_SIMILAR } from "./related-memories.tsx";

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
