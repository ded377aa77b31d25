import { AppError } from "../../errors.ts";
import type { Reach } from "../../keys/reach.ts";
import { type Filter, hasCondition, passes } from "../model/filter.ts";
import { MEMORY_ID } from "../model/memory.ts";
import { checkMayWrite, mayRead, mayWrite, readable, writable } from "../model/reach.ts";
import type { Store } from "../store/store.ts";
import { chainIn, removeLinked } from "../table/links.ts";
import { notFound } from "./find-by-id.ts";
import type { Idempotency } from "./idempotency.ts";
import { type ImportLine, type ImportOptions, importMemories } from "./import.ts";
import { createMove } from "./moving.ts";
import type { Reading } from "./reading.ts";
import { createSaving } from "./saving.ts";
import type { SecretWatch } from "./secret-watch.ts";
import { createUpdate } from "./updating.ts";

/** Saving, changing and removing memories; see `createMemories`. */
export function createWriting({
  store,
  idempotency,
  clock,
  secrets,
  get,
}: {
  store: Pick<Store, "use">;
  idempotency: Idempotency;
  clock: () => number;
  secrets: SecretWatch;
  get: Reading["get"];
}) {
  return {
    ...createSaving({ store, idempotency, clock }),

    /** Imports memories; see `importMemories`. */
    import: (reach: Reach, lines: AsyncIterable<ImportLine>, options: ImportOptions) =>
      importMemories({ store, clock, secrets }, reach, lines, options),

    update: createUpdate({ store, clock, get }),

    /** Moves memories to another project; see `createMove`. */
    ...createMove({ store, clock }),

    /**
     * Removes a memory. The memory that it superseded is then superseded by the one that superseded it.
     * @param withHistory removes its whole history
     * @returns the number of removed memories
     * @throws AppError `memory_not_found`
     */
    async remove(reach: Reach, id: string, withHistory = false): Promise<number> {
      if (!MEMORY_ID.test(id)) throw notFound(id);
      return await store.use(reach.accountId, ({ writer }) =>
        writer.change({
          ids: [id],
          links: withHistory ? "chain" : "near",
          apply(draft) {
            const current = draft.get(id);
            const visible = readable(reach, { aliveAt: clock() });
            if (!current || !passes(visible, current)) throw notFound(id);
            const history = withHistory ? chainIn(draft, id) : [current];
            const removed = history.filter((memory) => mayRead(reach, memory));
            for (const memory of removed) checkMayWrite(reach, memory);
            const ids = removed.map((memory) => memory.id);
            removeLinked(draft, ids, (memory) => mayWrite(reach, memory));
            return ids.length;
          },
        }),
      );
    },

    /**
     * Removes all memories that match a filter, and returns their number.
     * @throws AppError `validation_failed` for a filter without a condition
     */
    async removeMatching(reach: Reach, filter: Filter): Promise<number> {
      if (!hasCondition(filter)) {
        throw new AppError(
          "validation_failed",
          "Deleting everything at once is not possible: give at least one filter.",
        );
      }
      const reached = writable(reach, { ...filter, aliveAt: clock() });
      return store.use(reach.accountId, ({ writer }) =>
        writer.removeMatching(reached, (memory) => mayWrite(reach, memory)),
      );
    },
  };
}
