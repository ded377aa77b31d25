import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createWorkerEmbedder } from "../../src/embedding/worker-embedder.ts";
import { createLog } from "../../src/log.ts";
import { writeWordModel } from "../support/word-model.ts";
import { measureGroup } from "./measure-replicas.ts";
import { startGroup } from "./server-group.ts";
import { commandOf } from "./server-process.ts";

const USAGE = `bun test/bench/replicas.ts [--replicas 1,2,4] [--memories 2000] [--seconds 10] [--executable PATH] [--words]

Measures one server on its own data folder, and then servers that share a PostgreSQL and an object
store of this machine, which the bench starts.
  --replicas N     how many of them, one group after the other
  --memories N     memories in the account
  --seconds N      for which 16 clients search and save at once
  --executable P   the executable to measure; this checkout by default
  --words          a model that costs next to nothing, so that the rest of the work is seen
`;

const { values } = parseArgs({
  options: {
    replicas: { type: "string", default: "1,2,4" },
    memories: { type: "string", default: "2000" },
    seconds: { type: "string", default: "10" },
    executable: { type: "string" },
    words: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}

const root = mkdtempSync(join(tmpdir(), "ctxd-bench-"));
const cache = join(root, "cache");
const log = createLog({ logLevel: "warn", logFormat: "text" });
await using opened = new AsyncDisposableStack();
opened.defer(() => rmSync(root, { recursive: true, force: true }));
const engine = createWorkerEmbedder({ cacheDir: cache, log });
opened.defer(engine.close);
await engine.ready();
const model = values.words ? join(root, "words") : undefined;
if (model) await writeWordModel(model);

console.log(`${cpus().length} cores, ${cpus()[0]?.model}`);
const rows: Record<string, Record<string, string>> = {};
for (const replicas of [0, ...values.replicas.split(",").map(Number)]) {
  await using group = await startGroup(replicas, {
    ...{ command: commandOf(values.executable ?? null), root, cache, ...(model && { model }) },
  });
  const options = { memories: Number(values.memories), seconds: Number(values.seconds) };
  rows[group.name] = await measureGroup(group, { ...options, engine: model ? null : engine });
  console.log(group.name, rows[group.name]);
}
const [first] = Object.values(rows);
console.table(
  Object.fromEntries(
    Object.keys(first ?? {}).map((figure) => [
      figure,
      Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, row[figure]])),
    ]),
  ),
);
