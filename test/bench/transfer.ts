import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomUUIDv7 } from "bun";
import { hashFile } from "../../src/native/asset.ts";
import { writeWordModel } from "../support/word-model.ts";
import { anonymousMemory, MIB } from "./footprint.ts";
import { createSentences } from "./sentences.ts";
import { commandOf, environment, type Folders, startServer } from "./server-process.ts";

/**
 * Moves many memories from one server to another as people do, with `ctxd import` and `ctxd export`:
 * `bun test/bench/transfer.ts --memories 100000 [--program dist/ctxd]`. What both servers' memory
 * (`RssAnon`) comes to on the way is printed as JSON, and whether the second export is the first one,
 * byte by byte. The model is a quick one, whose vectors are as long as the built-in one's.
 */
const { values } = parseArgs({
  options: {
    memories: { type: "string", default: "100000" },
    program: { type: "string" },
  },
});
const MEMORIES = Number(values.memories);
const command = commandOf(values.program ?? null);
/** Milliseconds between two looks, and for how long it is looked when all is done. */
const [INTERVAL, REST] = [1_000, 30_000];
const DIMENSION = 384;

const folder = mkdtempSync(join(tmpdir(), "ctxd-transfer-"));
const pathOf = (name: string) => join(folder, name);

/** Does a task, and prints what the server's memory is meanwhile. */
async function watch(what: string, pid: number, task: () => Promise<unknown>): Promise<void> {
  const series: number[] = [];
  const look = async () => series.push(Math.round(((await anonymousMemory(pid)) ?? 0) / MIB));
  const timer = setInterval(look, INTERVAL);
  const started = performance.now();
  try {
    await task();
  } finally {
    clearInterval(timer);
  }
  await look();
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const most = Math.max(...series);
  console.log(JSON.stringify({ what, seconds, most_mib: most, rss_anon_mib: series }));
}

/** @throws Error when it fails */
async function run(args: readonly string[], folders: Folders): Promise<void> {
  const child = Bun.spawn([...command, ...args], {
    stderr: "pipe",
    env: environment(folders),
  });
  const [errors, exitCode] = await Promise.all([child.stderr.text(), child.exited]);
  if (exitCode !== 0) throw new Error(`${args.join(" ")}: ${errors}`);
}

async function writeMemories(path: string): Promise<void> {
  const sentences = createSentences(1);
  const file = Bun.file(path).writer();
  for (let n = 0; n < MEMORIES; n++) {
    const time = new Date(1_600_000_000_000 + n * 60_000);
    const id = `mem_${randomUUIDv7("hex", time).replaceAll("-", "")}`;
    const times = { created_at: time, updated_at: time };
    file.write(`${JSON.stringify({ id, ...sentences.memory(), ...times })}\n`);
    if (n % 1_000 === 0) await file.flush();
  }
  await file.end();
}

/** Fills an empty server from one file, and writes what it then has to another. */
async function pass(name: string, from: string, to: string): Promise<void> {
  const folders = { data: pathOf(name), cache: pathOf("cache"), model: pathOf("model") };
  const server = await startServer(command, folders);
  try {
    await watch(`${name}: import`, server.pid, () => run(["import", from], folders));
    await watch(`${name}: rest`, server.pid, () => Bun.sleep(REST));
    await watch(`${name}: export`, server.pid, () => run(["export", to], folders));
    await watch(`${name}: export again`, server.pid, () => run(["export", to], folders));
    await watch(`${name}: import again`, server.pid, () => run(["import", from], folders));
  } finally {
    await server.stop();
  }
}

try {
  const [made, first, second] = ["made", "first", "second"].map((name) => pathOf(`${name}.jsonl`));
  if (!made || !first || !second) throw new Error("three files");
  await writeWordModel(pathOf("model"), DIMENSION);
  await writeMemories(made);
  await pass("one", made, first);
  await pass("two", first, second);
  const [one, two] = await Promise.all([hashFile(first), hashFile(second)]);
  console.log(JSON.stringify({ bytes: Bun.file(second).size, is_the_same: one === two }));
} finally {
  rmSync(folder, { recursive: true });
}
