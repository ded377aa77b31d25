import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { databasePath } from "../../src/db/data-lock.ts";
import { connectTo } from "../../src/memories/base/connection.ts";
import { readCheckpoints } from "../../src/memories/log/records.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { createClient } from "../support/client.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { FLUSH_STEPS } from "../support/flush-steps.ts";
import { readLines } from "../support/lines.ts";
import { createRandom, type Random } from "../support/random.ts";
import {
  addAccountTo,
  type ServerKind,
  type ServerProcess,
  spawnServer,
} from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { writeWordModel } from "../support/word-model.ts";
import { createWriter, readAll, type Writer } from "./writer.ts";

/**
 * Clients write, the server is killed, and after the next start every answered write is there and
 * no other. `LONG=1 bun test test/crash/kill.test.ts` kills 200 times; SEED=n tries other moments.
 */
const KILLS = process.env.LONG ? { impatient: 160, real: 40 } : { impatient: 7, real: 1 };
const SEED = Number(process.env.SEED ?? 1);
const TIMEOUT = process.env.LONG ? 3_600_000 : 120_000;
const CLIENTS = 3;

/**
 * When the server is killed: any time, as it starts, or after a step of a flush. All flushes are rewrites, because
 * clients delete all the time; `flush-steps.test.ts` has the other steps.
 */
const REWRITE = FLUSH_STEPS.filter((step) => !/added|indexes/.test(step));
const MOMENTS = [...REWRITE, "any", "start"];

/** Lets the clients write until the moment has come, and some milliseconds more. */
async function killAt(moment: string, server: ServerProcess, random: Random): Promise<void> {
  if (moment === "any") await Bun.sleep(random.below(2_000));
  else await announced(server, moment);
  await Bun.sleep(random.below(40));
  await server.kill();
}

/** Waits until an impatient server has done a step twice. */
function announced(server: ServerProcess, step: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Reads on afterwards: a server that can't print would end by itself.
  void (async () => {
    let times = 0;
    for await (const line of readLines(server.stdout))
      if (line === step && ++times === 2) resolve();
    reject(new Error(`the server has ended before "${step}": ${server.errors()}`));
  })();
  return promise;
}

async function killRepeatedly(
  kind: ServerKind,
  kills: number,
  moments: readonly string[],
  settings: Record<string, string> = {},
) {
  const random = createRandom(SEED);
  const dataDir = temporaryFolder();
  const { accountId, key } = await addAccountTo(dataDir);
  const writers = Array.from({ length: CLIENTS }, (_, n) => createWriter(`agent${n}`, random));
  for (let kill = 0; kill < kills; kill++) {
    const moment = moments[kill % moments.length] ?? "any";
    if (moment === "start") {
      // Twice in a row: the recovery of a recovery.
      for (let round = 0; round < 2; round++) {
        await using server = spawnServer(dataDir, kind, settings);
        await Bun.sleep(random.below(600));
        await server.kill();
      }
      continue;
    }
    await using server = spawnServer(dataDir, kind, settings);
    const origin = await server.origin();
    await check(writers, origin, key);
    const before = writesOf(writers);
    const writing = writers.map((writer) => writer.write(origin, key, () => false));
    // The program as people run it loads its model first.
    if (kind === "real") await until("a write is answered", () => writesOf(writers) > before, 20);
    await killAt(moment, server, random);
    await Promise.all(writing);
  }
  await using server = spawnServer(dataDir, kind, settings);
  await check(writers, await server.origin(), key);
  expect(await server.end()).toBe(0);
  const known = writers.flatMap(({ expected }) => [...expected.keys()]);
  expect((await scan(dataDir, accountId)).sort()).toEqual(known.sort());
  return writesOf(writers);
}

function writesOf(writers: readonly Writer[]): number {
  return writers.reduce((sum, writer) => sum + writer.counts().writes, 0);
}

async function check(writers: readonly Writer[], origin: string, key: string): Promise<void> {
  const client = createClient(origin, key);
  for (const writer of writers) await writer.check(client);
  const known = writers.flatMap(({ expected }) => [...expected.keys()]);
  expect([...(await readAll(client)).keys()].sort()).toEqual(known.sort());
}

/** The ids in the files of an account's base, read without the server. */
async function scan(dataDir: string, accountId: string): Promise<string[]> {
  const connection = await connectTo(await loadLanceDb(testCacheDir), join(dataDir, "memories"));
  const db = new Sqlite(databasePath(dataDir), { readonly: true });
  const [checkpoint] = readCheckpoints(db).filter(({ table }) => table === accountId);
  db.close();
  const table = await connection.openTable(checkpoint?.base ?? "");
  const rows = await table.query().where("passage = 0").select(["id"]).toArray();
  return rows.map(({ id }) => String(id));
}

test(
  "kill -9 in the midst of upkeep and recovery loses nothing that was answered",
  async () => {
    const writes = await killRepeatedly("impatient", KILLS.impatient, MOMENTS);
    expect(writes).toBeGreaterThan(KILLS.impatient * 10);
    if (process.env.LONG) console.log({ writes });
  },
  TIMEOUT,
);

test(
  "kill -9 of the program as people run it loses nothing that was answered",
  async () => {
    const model = temporaryFolder();
    await writeWordModel(model);
    const writes = await killRepeatedly("real", KILLS.real, ["any"], { CTXD_MODEL: model });
    expect(writes).toBeGreaterThan(0);
    if (process.env.LONG) console.log({ writes });
  },
  TIMEOUT,
);
