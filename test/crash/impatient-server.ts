import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { databasePath, lockDataFolder } from "../../src/db/data-lock.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import { createEmbedders } from "../../src/embedding/chosen-model.ts";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { createLog, type Log, silentLog } from "../../src/log.ts";
import { EXPIRY } from "../../src/memories/background/expiry.ts";
import type { OnStep } from "../../src/memories/base/bases.ts";
import { createSqliteLog } from "../../src/memories/log/sqlite-log.ts";
import { openStore } from "../../src/memories/open-store.ts";
import { createStorage } from "../../src/memories/table/storage.ts";
import { UPKEEP_LIMITS } from "../../src/memories/upkeep/flush-state.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { testCacheDir } from "../support/embedder.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { serveStore } from "../support/serve-store.ts";

/** Upkeep is due after moments instead of seconds, so that something is under way whenever a process is killed. */
const IMPATIENT = {
  ...UPKEEP_LIMITS,
  idle: 200,
  age: 500,
  changes: 40,
  restFactor: 0,
  forgetAfter: 400,
  retryAfter: 300,
  indexAfter: 300,
  largeRows: 30,
};

interface Options {
  /** The name of the fake model. One with a name takes its time. */
  model?: string | undefined;
  /** Milliseconds that it takes for a memory. */
  pace?: number | undefined;
  /** How many milliseconds its clock is ahead. With it, pending changes are applied as soon as they are due. */
  ahead?: number | undefined;
  /** Silent by default. */
  log?: Log;
  /** Called at each step of a flush when it is done. */
  step?: OnStep;
}

function slow(embedder: Embedder, pace: number): Embedder {
  return {
    ...embedder,
    embedContent: (text) => Bun.sleep(pace).then(() => embedder.embedContent(text)),
  };
}

/**
 * What `ctxd serve` does, with two differences: the model is a fake one, so that it starts at once, and upkeep is
 * `IMPATIENT`. Tests that do not kill it run it in their own process: another one takes half a second of processor time.
 * `await using` ends it.
 */
export async function serveImpatiently(
  dataDir: string,
  { model, pace = 3, ahead, log = silentLog, step = () => {} }: Options = {},
) {
  const clock = () => Date.now() + (ahead ?? 0);
  const lock = lockDataFolder(dataDir, "test");
  const db = openSqlite(databasePath(dataDir));
  const folder = join(dataDir, "memories");
  mkdirSync(folder, { recursive: true });
  const embedder = model === undefined ? fakeEmbedder() : slow(fakeEmbedder({ id: model }), pace);
  const lancedb = await loadLanceDb(testCacheDir);
  const memoryLog = createSqliteLog({ db, clock });
  const storage = createStorage({
    lancedb,
    wanted: embedder.model,
    folder,
    log: memoryLog,
    step,
  });
  const store = await openStore({
    storage,
    embedders: createEmbedders(embedder, (model) => fakeEmbedder(model)),
    logger: log,
    due: IMPATIENT,
    expiry: { ...EXPIRY, every: 200 },
  });
  const served = serveStore({
    ...{ dataDir, db, store, memoryLog, clock, log },
    checks: { database: () => "ok" },
  });
  const { securityLog, undoable } = served;
  const untell = await securityLog.logCommands();
  const applying = ahead === undefined ? null : setInterval(undoable.applyDue, 200);
  const origin = `http://localhost:${served.port}`;
  lock.announce(origin);
  const close = async () => {
    if (applying !== null) clearInterval(applying);
    untell();
    await served.close();
    await db.close();
    lock.release();
  };
  return { origin, [Symbol.asyncDispose]: close };
}

/**
 * As a process of its own it serves the data folder given as argument, and prints each step of a flush on standard
 * output. `FAKE_MODEL`, `MODEL_PACE` and `CLOCK_AHEAD` are options. `STOP_AT` names a step right after which the process kills
 * itself, from the first step `STOP_KIND` on.
 */
if (import.meta.main) {
  const [dataDir = ""] = process.argv.slice(2);
  const { CLOCK_AHEAD, FAKE_MODEL, MODEL_PACE, STOP_AT, STOP_KIND = "" } = process.env;
  let isOfKind = STOP_KIND === "";
  const server = await serveImpatiently(dataDir, {
    model: FAKE_MODEL,
    pace: MODEL_PACE === undefined ? undefined : Number(MODEL_PACE),
    ahead: CLOCK_AHEAD === undefined ? undefined : Number(CLOCK_AHEAD),
    log: createLog({ logLevel: "debug", logFormat: "text" }),
    step(name) {
      process.stdout.write(`${name}\n`);
      if (name === STOP_KIND) isOfKind = true;
      if (name === STOP_AT && isOfKind) process.kill(process.pid, "SIGKILL");
    },
  });
  process.on("SIGTERM", async () => {
    await server[Symbol.asyncDispose]();
    process.exit(0);
  });
}
