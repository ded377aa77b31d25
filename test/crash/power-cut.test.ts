import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/db/database.ts";
import { listFiles } from "../../src/memories/table-files.ts";
import { createClient } from "../support/client.ts";
import { temporaryFolder } from "../support/database.ts";
import { createRandom, type Random } from "../support/random.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";
import { createWriter } from "./writer.ts";

/**
 * What a power cut may do to files that nobody has synced: after a kill, each file of the table that
 * the last checkpoint does not list is torn in one way or another. `LONG=1` makes 150 rounds.
 */
const ROUNDS = process.env.LONG ? 150 : 6;
const SEED = Number(process.env.SEED ?? 1);
const TIMEOUT = process.env.LONG ? 3_600_000 : 120_000;

const DAMAGES: readonly ((path: string) => void)[] = [
  (path) => truncateSync(path, 0),
  (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  (path) => rmSync(path),
  (path) => writeFileSync(path, new Uint8Array(statSync(path).size)),
  (path) => writeFileSync(path, "torn"),
  () => {},
];

interface Row {
  files: string;
}

/** The files of the table that are known to be on the disk; `null` before the first checkpoint. */
function checkpointed(dataDir: string): string[] | null {
  const db = new Sqlite(databasePath(dataDir));
  const row = db.query<Row, []>("SELECT files FROM checkpoints").get();
  db.close();
  return row && JSON.parse(row.files);
}

/** Tears what no checkpoint lists, folders without anything else in them included. */
async function cutPower(folder: string, files: readonly string[], random: Random) {
  const known = new Set(files);
  const unsynced = (await listFiles(folder)).filter((file) => !known.has(file));
  for (const file of unsynced) random.pick(DAMAGES)?.(join(folder, file));
  for (const name of existsSync(join(folder, "_indices"))
    ? readdirSync(join(folder, "_indices"))
    : []) {
    const isKnown = files.some((file) => file.startsWith(join("_indices", name)));
    if (!isKnown && random.below(2)) rmSync(join(folder, "_indices", name), { recursive: true });
  }
  const hint = join(folder, "_versions", "latest_version_hint.json");
  const hints = ["", '{"ver', '{"version":1}', '{"version":99999999}', null];
  const torn = random.pick(hints) ?? null;
  if (torn === null) rmSync(hint, { force: true });
  else writeFileSync(hint, torn);
  return unsynced;
}

test(
  "after a power cut every answered write is there, whatever became of unsynced files",
  async () => {
    const random = createRandom(SEED);
    const dataDir = temporaryFolder();
    const { accountId, key } = await addAccountTo(dataDir);
    const folder = join(dataDir, "memories", `${accountId}.lance`);
    const writers = Array.from({ length: 3 }, (_, n) => createWriter(`agent${n}`, random));
    const torn = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      await using server = spawnServer(dataDir, "impatient");
      const origin = await server.origin();
      for (const writer of writers) await writer.check(createClient(origin, key));
      const writing = writers.map((writer) => writer.write(origin, key, () => false));
      await Bun.sleep(100 + random.below(900));
      await server.kill();
      await Promise.all(writing);
      for (const file of await cutPower(folder, checkpointed(dataDir) ?? [], random)) {
        torn.add(file.split("/")[0] ?? "");
      }
    }
    await using server = spawnServer(dataDir, "impatient");
    const client = createClient(await server.origin(), key);
    for (const writer of writers) await writer.check(client);
    // Otherwise this would show nothing.
    expect([...torn]).toEqual(expect.arrayContaining(["data", "_versions", "_transactions"]));
  },
  TIMEOUT,
);

test(
  "a table that was torn while it was made is made anew",
  async () => {
    const random = createRandom(SEED);
    const rounds = process.env.LONG ? 60 : 5;
    for (let round = 0; round < rounds; round++) {
      const dataDir = temporaryFolder();
      const { accountId, key } = await addAccountTo(dataDir);
      const folder = join(dataDir, "memories", `${accountId}.lance`);
      const first = spawnServer(dataDir, "impatient");
      await createClient(await first.origin(), key).list();
      await first.kill();
      const db = new Sqlite(databasePath(dataDir));
      db.run("DELETE FROM checkpoints");
      db.close();
      await cutPower(folder, [], random);

      await using server = spawnServer(dataDir, "impatient");
      const client = createClient(await server.origin(), key);
      const saved = await client.save({ content: "the first memory", tags: ["first"] });
      expect(await client.search("first")).toMatchObject([{ id: saved.id }]);
      expect((await client.list({ tags: "first" })).memories).toEqual([saved]);
      await server.kill();
      await using again = spawnServer(dataDir, "impatient");
      expect(await createClient(await again.origin(), key).get(saved.id)).toEqual(saved);
    }
  },
  TIMEOUT,
);

test("a table whose checkpoint is not on the disk is refused, not replaced by an empty one", async () => {
  const dataDir = temporaryFolder();
  const { accountId, key } = await addAccountTo(dataDir);
  const first = spawnServer(dataDir, "impatient");
  await createClient(await first.origin(), key).save({ content: "something to lose" });
  expect(await first.end()).toBe(0);
  const versions = join(dataDir, "memories", `${accountId}.lance`, "_versions");
  const kept = readdirSync(versions);
  rmSync(versions, { recursive: true });

  await using server = spawnServer(dataDir, "impatient");
  const client = createClient(await server.origin(), key);
  for (const path of ["/memories", "/memories/search?q=something"]) {
    expect(await client.send("GET", path)).toMatchObject({
      status: 503,
      body: {
        error: { code: "unavailable", message: expect.stringContaining("restore a backup") },
      },
    });
  }
  expect(kept.length).toBeGreaterThan(0);
  expect(existsSync(versions)).toBe(false);
});
