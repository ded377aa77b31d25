import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/db/data-lock.ts";
import { readCheckpoints } from "../../src/memories/log/records.ts";
import { createClient } from "../support/client.ts";
import { temporaryFolder } from "../support/database.ts";
import { listFiles } from "../support/files.ts";
import { createRandom, type Random } from "../support/random.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";
import { serveImpatiently } from "./impatient-server.ts";
import { createWriter } from "./writer.ts";

/**
 * What a power cut may do to files that nobody has synced: after a kill, each file that no checkpoint
 * lists is torn in one way or another, those of a base that was being added to or indexed as well as
 * whole folders of bases that are not recorded. `LONG=1` makes 150 rounds.
 */
const ROUNDS = process.env.LONG ? 150 : 4;
const SEED = Number(process.env.SEED ?? 1);
const TIMEOUT = process.env.LONG ? 3_600_000 : 120_000;
/** Milliseconds that anything may take on a busy machine. */
const PATIENCE = 60_000;

/** Memories of which a slow model takes seconds, so that a change of the model can be cut off on a busy machine. */
const SOME = Array.from({ length: 20 }, (_, n) => ({ content: `note ${n}` }));

const DAMAGES: readonly ((path: string) => void)[] = [
  (path) => truncateSync(path, 0),
  (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  (path) => rmSync(path),
  (path) => writeFileSync(path, new Uint8Array(statSync(path).size)),
  (path) => writeFileSync(path, "torn"),
  () => {},
];

/** Of each recorded base the files that are known to be on the disk. */
function checkpointed(dataDir: string): Map<string, string[]> {
  const db = new Sqlite(databasePath(dataDir));
  const recorded = readCheckpoints(db).map(({ base, files }) => [base, files] as const);
  db.close();
  return new Map(recorded);
}

/** Tears all bases, and returns the kinds of files that were torn. */
async function cutPowerOf(dataDir: string, random: Random): Promise<string[]> {
  const known = checkpointed(dataDir);
  const torn: string[] = [];
  const folder = join(dataDir, "memories");
  for (const name of readdirSync(folder)) {
    const files = known.get(name.replace(/\.lance$/, "")) ?? [];
    torn.push(...(await cutPower(join(folder, name), files, random)));
  }
  return torn.map((file) => file.split("/")[0] ?? "");
}

/** Tears what no checkpoint lists, folders without anything else in them included. */
async function cutPower(folder: string, files: readonly string[], random: Random) {
  const known = new Set(files);
  const unsynced = (await listFiles(folder)).filter((file) => !known.has(file));
  for (const file of unsynced) random.pick(DAMAGES)?.(join(folder, file));
  // Its name in the folder of all bases need not be on the disk either.
  if (files.length === 0 && random.below(4) === 0) {
    rmSync(folder, { recursive: true, force: true });
    return unsynced;
  }
  for (const name of existsSync(join(folder, "_indices"))
    ? readdirSync(join(folder, "_indices"))
    : []) {
    const isKnown = files.some((file) => file.startsWith(join("_indices", name)));
    if (!isKnown && random.below(2)) rmSync(join(folder, "_indices", name), { recursive: true });
  }
  const versions = join(folder, "_versions");
  if (!existsSync(versions)) return unsynced;
  const hint = join(versions, "latest_version_hint.json");
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
    const { key } = await addAccountTo(dataDir);
    const writers = Array.from({ length: 3 }, (_, n) => createWriter(`agent${n}`, random));
    const torn = new Set<string>();
    const kinds = ["data", "_versions", "_transactions"];
    for (let round = 0; round < ROUNDS; round++) {
      // The first round surely meets a base that is not synced: nothing is flushed before. The others end at any moment.
      const isMet = round === 0;
      await using server = spawnServer(
        dataDir,
        "impatient",
        isMet ? { STOP_AT: "base written" } : {},
      );
      const origin = await server.origin();
      for (const writer of writers) await writer.check(createClient(origin, key));
      const writing = writers.map((writer) => writer.write(origin, key, () => false));
      if (isMet) await server.exited;
      else {
        await Bun.sleep(100 + random.below(600));
        await server.kill();
      }
      await Promise.all(writing);
      for (const kind of await cutPowerOf(dataDir, random)) torn.add(kind);
    }
    await using server = await serveImpatiently(dataDir);
    const client = createClient(server.origin, key);
    for (const writer of writers) await writer.check(client);
    // Otherwise this would show nothing.
    expect([...torn]).toEqual(expect.arrayContaining(kinds));
  },
  TIMEOUT,
);

test(
  "the same while a table of another model is made, and takes the place of the first",
  async () => {
    const random = createRandom(SEED);
    const dataDir = temporaryFolder();
    const { key } = await addAccountTo(dataDir);
    const writers = Array.from({ length: 2 }, (_, n) => createWriter(`agent${n}`, random));
    const kinds = { during: 0, after: 0 };
    let model = "first";
    for (let round = 0; round < ROUNDS; round++) {
      // Every other round has another model. The one after it goes on, or begins nothing.
      const isSwitch = round % 2 === 1;
      if (isSwitch) model = model === "first" ? "second" : "first";
      // The first switch surely begins, and is cut off as it does; the others at any moment.
      const isFirst = round === 1;
      await using server = spawnServer(dataDir, "impatient", {
        FAKE_MODEL: model,
        ...(isFirst && { MODEL_PACE: "1000" }),
      });
      const origin = await server.origin();
      for (const writer of writers) await writer.check(createClient(origin, key));
      if (round === 0) await createClient(origin, key).saveAll(SOME);
      const writing = writers.map((writer) => writer.write(origin, key, () => false));
      const says = (event: string) => server.errors().includes(event);
      const end = performance.now() + (isFirst ? PATIENCE : 500 + random.below(1_500));
      const cut = isFirst || random.below(2) ? "reembedding_started" : "reembedding_done";
      while (!says(cut) && performance.now() < end) await Bun.sleep(5);
      await server.kill();
      await Promise.all(writing);
      if (says("reembedding_done")) kinds.after++;
      else if (says("reembedding_started")) kinds.during++;
      await cutPowerOf(dataDir, random);
    }
    await using server = await serveImpatiently(dataDir, { model });
    const client = createClient(server.origin, key);
    for (const writer of writers) await writer.check(client);
    expect(kinds.during).toBeGreaterThan(0);
    if (process.env.LONG) console.log(kinds);
  },
  TIMEOUT,
);

test(
  "a base that was torn while it was written is written again from the log",
  async () => {
    const random = createRandom(SEED);
    const rounds = process.env.LONG ? 60 : 5;
    const killed = temporaryFolder();
    const { key } = await addAccountTo(killed);
    await using first = spawnServer(killed, "impatient", { STOP_AT: "base written" });
    const saved = await createClient(await first.origin(), key).save({
      content: "the first memory",
      tags: ["first"],
    });
    await first.exited;
    expect(checkpointed(killed).size).toBe(0);
    for (let round = 0; round < rounds; round++) {
      const dataDir = temporaryFolder();
      cpSync(killed, dataDir, { recursive: true });
      expect(await cutPowerOf(dataDir, random)).not.toEqual([]);

      {
        await using server = await serveImpatiently(dataDir);
        const client = createClient(server.origin, key);
        expect(await client.search("first")).toMatchObject([{ id: saved.id }]);
        expect((await client.list({ tags: "first" })).memories).toEqual([saved]);
      }
      expect([...checkpointed(dataDir).keys()].map((base) => `${base}.lance`)).toEqual(
        readdirSync(join(dataDir, "memories")),
      );
      await using again = await serveImpatiently(dataDir);
      expect(await createClient(again.origin, key).get(saved.id)).toEqual(saved);
    }
  },
  TIMEOUT,
);

test("a table whose checkpoint is not on the disk is refused, not replaced by an empty one", async () => {
  const dataDir = temporaryFolder();
  const { key } = await addAccountTo(dataDir);
  {
    await using first = await serveImpatiently(dataDir);
    await createClient(first.origin, key).save({ content: "something to lose" });
  }
  const [base] = [...checkpointed(dataDir).keys()];
  const versions = join(dataDir, "memories", `${base}.lance`, "_versions");
  const kept = readdirSync(versions);
  rmSync(versions, { recursive: true });

  await using server = await serveImpatiently(dataDir);
  const client = createClient(server.origin, key);
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
