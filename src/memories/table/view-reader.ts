import { createPause } from "../../timing/pause.ts";
import type { MemoryRow } from "../model/rows.ts";
import type { View } from "../view/view.ts";
import type { TableReader } from "./table.ts";

/** The most memories of sessions around a search's best candidates. */
export const MAX_SESSION_MEMORIES = 512;
/** Memories of a batch when all are read. */
const BATCH = 500;

/** Answers from a view that has all memories of its table. */
export function createViewReader(view: View): TableReader {
  return {
    find: async (ids) => ids.flatMap((id) => view.get(id) ?? []),
    list: async (filter, from, limit) => view.list(filter, from, limit),
    count: async (filter) => view.count(filter),
    select: async (filter) => view.select(filter),
    expiring: async (limit) => view.expiring(limit),
    async *rows() {
      const pause = createPause();
      let rows: MemoryRow[] = [];
      for (const row of view.rows()) {
        rows.push(row);
        if (rows.length < BATCH) continue;
        yield rows;
        rows = [];
        await pause();
      }
      yield rows;
    },
    withText: async (content) => view.withText(content),
    candidates: async (question) => view.candidates(question),
    ofSessions: async (sessions, asked) => view.ofSessions(sessions, asked, MAX_SESSION_MEMORIES),
  };
}
