/** @jsxRuntime automatic @jsxImportSource #pages */

import { Elysia } from "elysia";
import { wholeAccount } from "../keys/reach.ts";
import type { Memories } from "../memories/memories.ts";
import type { Memory } from "../memories/memory.ts";
import { withTimeLimit } from "../time-limit.ts";
import { countOf } from "./count-of.ts";
import { type Guard, PAGE_ROUTE } from "./guard.tsx";
import { MOST_BESIDE, MOST_NEAR } from "./memory-around.tsx";
import { MOST_OF_HISTORY } from "./memory-history.tsx";
import { MemoryPage, MemoryQuestion, pathOf, type Surroundings } from "./memory-page.tsx";
import { PATHS } from "./navigation.tsx";
import { ownSource } from "./session-principal.ts";

/** Milliseconds that the page waits for what is near: after a start, many memories have to be read first. */
const PATIENCE = 1_000;

type Service = Pick<
  Memories,
  "fading" | "get" | "history" | "inSession" | "near" | "remove" | "update"
>;

/** The page of a memory, and what is done with it there. */
export function createMemoryPageRoutes({ guard, memories }: { guard: Guard; memories: Service }) {
  /** The newest of a history, or those from the memory on where it is too long. */
  const historyOf = async (
    accountId: string,
    memory: Memory,
  ): Promise<Pick<Surroundings, "history" | "current">> => {
    const { id, supersedes, superseded_by } = memory;
    if (supersedes === null && superseded_by === null) return { history: [], current: null };
    const limit = MOST_OF_HISTORY;
    const read = async (from?: string) =>
      (await memories.history(wholeAccount(accountId), id, { limit, from })).memories;
    const newest = await read();
    const history = newest.some((each) => each.id === id) ? newest : await read(id);
    return { history, current: superseded_by === null ? null : (newest[0] ?? null) };
  };

  const around = async (accountId: string, memory: Memory): Promise<Surroundings> => {
    const reach = wholeAccount(accountId);
    const [{ history, current }, beside, near] = await Promise.all([
      historyOf(accountId, memory),
      memories.inSession(reach, memory.id, MOST_BESIDE),
      withTimeLimit(memories.near(reach, memory.id), PATIENCE, () => null),
    ]);
    const shown = new Set([...history, ...(current ? [current] : [])].map(({ id }) => id));
    return {
      ...{ history, current, ...beside, fading: memories.fading(memory) },
      near: near?.filter((each) => !shown.has(each.memory.id)).slice(0, MOST_NEAR) ?? null,
    };
  };

  return new Elysia()
    .get(
      `${PATHS.memories}/:id`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          const { id } = visit.account;
          const memory = await memories.get(wholeAccount(id), params.id);
          return <MemoryPage visit={visit} memory={memory} around={await around(id, memory)} />;
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
          const notice = pinned ? "Pinned: it never fades." : "No longer pinned: it fades.";
          return { to: pathOf(memory), notice };
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
            ? `Deleted for good: ${countOf(count)}.`
            : "The memory is deleted for good.";
          return { to: PATHS.memories, notice };
        }),
      PAGE_ROUTE,
    );
}
