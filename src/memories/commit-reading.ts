import type { Job } from "./commit.ts";
import { createDraft } from "./draft.ts";
import { linksOf } from "./links.ts";
import type { MemoryRow } from "./rows.ts";
import type { MemoryTable } from "./table.ts";

/** What the jobs of a group read, and what their filters let pass. */
export async function readGroup(table: MemoryTable, group: readonly Job[]) {
  const matches = new Map<Job, string[]>();
  for (const job of group) if (job.filter) matches.set(job, await table.select(job.filter));
  const idsOf = (jobs: readonly Job[]) => jobs.flatMap(({ ids }) => ids);
  const rows = new Map<string, MemoryRow>();
  const find = async (ids: readonly string[]) => {
    for (const row of await table.find(ids)) rows.set(row.id, row);
  };
  await find([...new Set([...idsOf(group), ...[...matches.values()].flat()])]);

  /** With all that links lead to from these ids. */
  const chainOf = async (ids: readonly string[]) => {
    const chain = new Set(ids);
    for (const id of chain) {
      if (!rows.has(id)) await find([id]);
      for (const linked of linksOf(rows.get(id))) chain.add(linked);
    }
    return chain;
  };

  const beside = new Set<string>();
  for (const job of group) {
    const isLinking = job.links !== undefined || job.filter !== null;
    if (!isLinking) continue;
    const own =
      job.links === "chain"
        ? await chainOf(job.ids)
        : new Set([...job.ids, ...(matches.get(job) ?? [])]);
    // Others of the group may change what it does not remove by itself.
    for (const id of own) {
      for (const linked of linksOf(rows.get(id))) if (!own.has(linked)) beside.add(linked);
    }
  }
  for (const { content, vectors } of group.flatMap(({ withTextsOf = [] }) => withTextsOf)) {
    // What can't be read keeps nothing from being saved.
    const same = await table.withText(content, vectors[0] ?? null).catch(() => []);
    for (const row of same) rows.set(row.id, row);
  }
  const withVectors = new Set(idsOf(group.filter((job) => job.withVectors)));
  const whole = await table.load([...withVectors.union(beside)]);
  for (const memory of whole) rows.set(memory.id, memory);
  return { matches, draft: createDraft([...rows.values()], whole) };
}
