import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createWorkerEmbedder } from "../../src/embedding/worker-embedder.ts";
import { createLog } from "../../src/log.ts";
import { keeps } from "./budgets.ts";
import { drawChart } from "./chart.ts";
import { createBenchClient } from "./client.ts";
import { MOST_OVER_HTTP, measureLarge } from "./large.ts";
import { loadTo } from "./load.ts";
import { measureGrowth, measureServer, sizeOf } from "./measure.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import type { Outcome } from "./outcome.ts";
import { benchPeers } from "./peers/bench-peers.ts";
import { growthChart, printLines, writesChart } from "./report.ts";
import { createSentences } from "./sentences.ts";
import { commandOf, createKey, startServer } from "./server-process.ts";
import { measureFirstSearch, measureStart, type Started } from "./start.ts";
import { createStored, type Subject } from "./subject.ts";

/** The same texts in every run. */
const SEED = 7_733;

async function bench({ sizes, out, executable, checkout }: Options): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "ctxd-bench-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const folders = { data: join(folder, "data"), cache: join(folder, "cache") };
  const command = commandOf(executable, checkout);
  const log = createLog({ logLevel: "warn", logFormat: "text" });
  const engine = createWorkerEmbedder({ cacheDir: folders.cache, log });
  opened.defer(engine.close);
  await engine.ready();

  const outcome: Outcome = {
    subject: executable ?? `the checkout ${checkout ?? "of this bench"} (bun src/main.ts serve)`,
    machine: {
      platform: `${process.platform}-${process.arch}`,
      cpu: cpus()[0]?.model ?? "unknown",
      cores: cpus().length,
    },
    lines: [],
    growth: [],
    besideWrites: [],
    remarks: [],
  };
  console.log(`measuring ${outcome.subject}`);
  const key = await createKey(command, folders);
  const sentences = createSentences(SEED);
  const stored = createStored(engine.model.dimension);

  for (const size of sizes.filter((size) => size <= MOST_OVER_HTTP)) {
    const server = await startServer(command, folders);
    opened.defer(server.stop);
    const client = createBenchClient(server.origin, key);
    const subject: Subject = { server, client, folders, engine, sentences, stored };
    for (const step of stepsBetween(stored.memories, size)) {
      await loadTo(step, subject);
      outcome.growth.push(await measureGrowth(subject));
    }
    const bulk = await loadTo(size, subject);
    await measureServer(subject, bulk, outcome);
    await server.stop();
    outcome.remarks.push(...server.remarks);
    await measureStarts({ command, folders, key, query: sentences.query }, size, outcome);
    if (executable) {
      const bytes = await sizeOf(executable);
      outcome.lines.push({ name: "executable", memories: size, floor: null, figure: bytes });
    }
    print(outcome, size);
  }
  for (const size of sizes.filter((size) => size > MOST_OVER_HTTP)) {
    outcome.lines.push(...(await measureLarge(size)));
    print(outcome, size);
  }
  await save(outcome, out);
  return outcome;
}

async function measureStarts(started: Started, memories: number, { lines }: Outcome) {
  const figure = await measureStart(started);
  lines.push({ name: "start", memories, floor: null, figure });
  const { first, inMemory } = await measureFirstSearch(started, memories);
  lines.push({ name: "firstSearch", memories, floor: null, figure: first });
  if (inMemory !== null) lines.push({ name: "inMemory", memories, floor: null, figure: inMemory });
}

function print({ lines }: Outcome, size: number): void {
  console.log(`\n${printLines(lines.filter(({ memories }) => memories === size))}\n`);
}

/** Sizes on the way at which searches are measured: 1, 2 and 5 times each power of ten. */
function stepsBetween(from: number, to: number): number[] {
  const steps = [1_000, 10_000, 100_000, 1_000_000].flatMap((power) =>
    [1, 2, 5].map((factor) => factor * power),
  );
  return steps.filter((step) => step > from && step < to);
}

async function save(outcome: Outcome, out: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  await Bun.write(join(out, "results.json"), `${JSON.stringify(outcome, null, 2)}\n`);
  await Bun.write(join(out, "growth.svg"), drawChart(growthChart(outcome.growth)));
  for (const beside of outcome.besideWrites) {
    const name = `beside-writes-${beside.memories}.svg`;
    await Bun.write(join(out, name), drawChart(writesChart(beside)));
  }
  console.log(`results.json and plots are in ${out}`);
}

function readOptionsOrExit(): Options {
  try {
    return readOptions(Bun.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
}

const options = readOptionsOrExit();
if (options.peers) {
  await benchPeers(options);
  process.exit();
}
const { lines, remarks } = await bench(options);
for (const remark of remarks.slice(0, 20)) console.error(`the server said: ${remark}`);
const missed = lines.filter((line) => keeps(line) === false);
console.log(missed.length === 0 ? "every budget is kept" : `${missed.length} budgets are missed`);
process.exit(missed.length === 0 ? 0 : 1);
