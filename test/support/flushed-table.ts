import { idOf, storedMemories } from "./bases.ts";
import { AT_ONCE, type OpenKeptTable, openKeptTable, tableStorage } from "./kept-table.ts";

/** Runs chores while any is due, and returns them. */
export async function runDueChores({ flush }: OpenKeptTable): Promise<string[]> {
  const done: string[] = [];
  for (let chore = flush.due(0, false); chore; chore = flush.due(0, false)) {
    await flush.run(chore);
    done.push(chore);
    if (done.length > 10) throw new Error(`a chore is always due: ${done}`);
  }
  return done;
}

/** A table with memories 0 to `count` in its base, and an empty log. */
export async function flushedTable(
  count: number,
  options: Parameters<typeof openKeptTable>[1] = {},
) {
  const steps: string[] = [];
  const storage = await tableStorage((step) => void steps.push(step));
  const due = { ...AT_ONCE, restFactor: 0, retryAfter: 0, ...options.due };
  const open = await openKeptTable(storage, { ...options, due });
  await open.put(...(await storedMemories(0, count)));
  await runDueChores(open);
  steps.length = 0;
  return { ...storage, storage, ...open, open, steps };
}

/** Limits by which nothing is due until a test changes them. */
export const nothingDue = () => ({
  ...AT_ONCE,
  restFactor: 0,
  retryAfter: 0,
  idle: 1e9,
  forgetAfter: 1e9,
  forgottenWithin: 1e9,
  indexAfter: 1e9,
});

/** The ids of memories 0 to `count`. */
export const firstIds = (count: number) =>
  Array.from({ length: count }, (_, number) => idOf(number));
