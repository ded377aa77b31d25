import type { ImportReport } from "../memories/model/memory.ts";
import { LIMITS } from "../memories/model/memory.ts";
import { inBatches } from "./in-batches.ts";
import type { Reading } from "./read-files.ts";
import { addLine, addReport, type Totals } from "./totals.ts";

/** Characters that are sent at once. */
const BATCH_CHARACTERS = 1 << 20;

/**
 * Sends the lines of a reading in batches, and counts the outcomes in `totals`. Yields after each
 * batch.
 * @param send imports lines of JSON; its report refers to them by their numbers
 */
export async function* transfer(
  { lines }: Pick<Reading, "lines">,
  totals: Totals,
  send: (lines: readonly string[]) => Promise<ImportReport>,
): AsyncGenerator<void, void> {
  const limits = { lines: LIMITS.batch, characters: BATCH_CHARACTERS };
  for await (const batch of inBatches(lines, limits)) {
    for (const line of batch) addLine(totals, line);
    const good = batch.flatMap((line) => ("line" in line ? line : []));
    if (good.length > 0) addReport(totals, await send(good.map(({ line }) => line)), good);
    yield;
  }
}
