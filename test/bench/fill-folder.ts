import { wholeAccount } from "../../src/keys/reach.ts";
import { until } from "../support/until.ts";
import { openPrepared } from "./prepared-data.ts";
import { createProgress } from "./progress.ts";
import { createSentences } from "./sentences.ts";
import { settle } from "./settle.ts";
import { createStored } from "./subject.ts";

/**
 * Fills a data folder with memories through the program's own storage, without a server and with
 * vectors of a stand-in: `bun test/bench/fill-folder.ts FOLDER MEMORIES`. Prints as JSON what it
 * wrote. The account is the owner's, who is made when there is none.
 */
const [folder = "", count] = Bun.argv.slice(2);
const memories = Number(count);
/** Memories of one commit, and commits that may wait for a flush. */
const BATCH = 1_000;
const WAITING = 32;
const LOOK_EVERY = 20;

const data = await openPrepared(folder);
const sentences = createSentences(1);
const stored = createStored(data.engine.model.dimension);
const progress = createProgress("preparing memories", memories);
const started = performance.now();
while (stored.memories < memories) {
  const size = Math.min(BATCH, memories - stored.memories);
  const batch = Array.from({ length: size }, () => sentences.memory());
  await data.memories.saveAll(wholeAccount(data.accountId), batch);
  stored.add(batch);
  progress.report(stored.memories);
  await until("commits are flushed", async () => (await data.log.size()) <= WAITING, LOOK_EVERY);
}
progress.end();
const seconds = (performance.now() - started) / 1_000;
await settle(folder, data.metrics);
await data.close();
console.log(JSON.stringify({ mib: stored.mib, seconds }));
process.exit(0);
