import { createProgress } from "./progress.ts";
import type { Subject } from "./subject.ts";
import { BATCH, measureBulk, type Rates } from "./throughput.ts";

/** The last batches before a size is reached are measured. */
const MEASURED_BATCHES = 6;

/** Writes memories until there are so many. The last batches are written in turns with the engine. */
export async function loadTo(size: number, subject: Subject): Promise<Rates | null> {
  const { stored } = subject;
  const progress = createProgress("writing memories", size);
  const measured = Math.min(MEASURED_BATCHES, Math.floor((size - stored.memories) / BATCH));
  while (size - stored.memories > measured * BATCH) {
    const batch = nextBatch(subject, size - measured * BATCH);
    await subject.client.saveAll(batch);
    stored.add(batch);
    progress.report(stored.memories);
  }
  const batches = Array.from({ length: measured }, () => nextBatch(subject, size));
  const rates = measured > 0 ? await measureBulk(subject, batches) : null;
  progress.report(stored.memories);
  progress.end();
  return rates;
}

function nextBatch({ sentences, stored }: Subject, size: number) {
  const count = Math.min(BATCH, size - stored.memories);
  return Array.from({ length: count }, () => sentences.memory());
}
