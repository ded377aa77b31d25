import type { Reach } from "../../../keys/reach.ts";
import { passes } from "../../model/filter.ts";
import { LIMITS } from "../../model/memory.ts";
import { writable } from "../../model/reach.ts";
import { historyOf, relink } from "../../table/links.ts";
import type { TableReader } from "../../table/table.ts";
import type { Parts } from "../visible.ts";

/** Tries while other writes change the end of the history. */
const TRIES = 5;

/**
 * Returns a function that makes a saved memory supersede other ones, which stay as the end of its history. Memories that
 * are superseded already, have gone, or are of another project are left out, so doing it again changes nothing.
 */
export function createSupersedeThese({ store, clock }: Parts) {
  const supersedeOne = (reach: Reach, keep: string, id: string): Promise<boolean | "changed"> =>
    store.use(reach.accountId, async ({ table, writer }) => {
      const [history, old] = await Promise.all([historyIn(table, keep), historyIn(table, id)]);
      const last = history.at(-1);
      if (!last || history.length + old.length > LIMITS.history) return false;
      const holds = writable(reach, { isCurrent: true, aliveAt: clock() });
      return await writer.change({
        ids: [...new Set([keep, last, id])],
        withVectors: true,
        links: "near",
        apply(draft) {
          const [kept, end, other] = [draft.get(keep), draft.get(last), draft.get(id)];
          if (!kept || !other || kept.project !== other.project) return false;
          if (![kept, other].every((each) => passes(holds, each))) return false;
          const isEnd = end && (end.supersedes === null || !draft.get(end.supersedes));
          if (!isEnd) return "changed";
          relink(draft, end, { supersedes: id });
          relink(draft, other, { supersededBy: last });
          return true;
        },
      });
    });

  /** @returns how many memories were superseded */
  return async (reach: Reach, keep: string, ids: readonly string[]): Promise<number> => {
    let count = 0;
    for (const id of ids) {
      if (id === keep) continue;
      let done = await supersedeOne(reach, keep, id);
      for (let tries = 1; done === "changed" && tries < TRIES; tries++) {
        done = await supersedeOne(reach, keep, id);
      }
      if (done === true) count++;
    }
    return count;
  };
}

const historyIn = (table: Pick<TableReader, "find">, id: string) =>
  historyOf(async (each) => (await table.find([each]))[0] ?? null, id);
