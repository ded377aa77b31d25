import { createPause } from "../../timing/pause.ts";
import { LIMITS } from "../model/memory.ts";
import type { MemoryRow } from "../model/rows.ts";
import { historyOf, type Links } from "../table/links.ts";
import { linkedIds, mergeLinks } from "./import-links.ts";

type Line = Links & { readonly id: string };

/**
 * The lines that would make a history longer than it may be.
 * @param find memories by their ids
 */
export async function tooLongHistories<L extends Line>(
  lines: readonly L[],
  find: (ids: readonly string[]) => Promise<MemoryRow[]>,
): Promise<Set<L>> {
  const linked = lines.filter((line) => linkedIds([line]).length > 0);
  const tooLong = new Set<L>();
  if (linked.length === 0) return tooLong;
  const known = new Map<string, Line | null>();
  const get = async (id: string) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const [row = null] = await find([id]);
    known.set(id, row);
    return row;
  };
  const pause = createPause();
  for (const line of linked) {
    const before = await get(line.id);
    known.set(line.id, { id: line.id, ...mergeLinks(line, before) });
    const history = await historyOf(get, line.id);
    if (history.length > LIMITS.history) {
      known.set(line.id, before);
      tooLong.add(line);
    }
    await pause();
  }
  return tooLong;
}
