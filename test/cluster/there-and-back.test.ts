import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/db/data-lock.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import { createEmbedders, openChosenModel } from "../../src/embedding/chosen-model.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { untilGone } from "../crash/traces.ts";
import told from "../fixtures/earlier-version.json" with { type: "json" };
import type { Client } from "../support/client.ts";
import { ctxd } from "../support/command-line.ts";
import { silentLog, testCacheDir } from "../support/embedder.ts";
import { folderOfTest, HASTY, openData } from "../support/live-data.ts";
import { startObjectStore } from "../support/object-store.ts";
import { openPostgres } from "../support/open-postgres.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { addAccountTo, serving } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { writeWordModel } from "../support/word-model.ts";
import { accessOf, allowApp } from "./access-of-accounts.ts";

/**
 * From one machine to replicas and back with the commands `backup` and `restore`. `LONG=1` takes 10,000
 * memories.
 */
const MEMORIES = process.env.LONG ? 10_000 : 120;
const TIMEOUT = process.env.LONG ? 1_800_000 : 300_000;
/** Milliseconds between two writes of a client while a backup is made. */
const PACE = 20;
/** Milliseconds within which deleted texts must have left all files. */
const PATIENCE = 60_000;

const FORGOTTEN = "Quagga7731";
const SUBJECTS = [
  "the cat",
  "our harbour",
  "a violin",
  "the lighthouse",
  "my bicycle",
  "the bakery",
];
const DEEDS = ["was repaired", "smells of rain", "belongs to Ada", "is closed on Mondays", "sings"];
const QUERIES = ["who repaired the violin", "closed bakery", "Ada's bicycle", "number 17", "rain"];

const place = folderOfTest();
const laptop = join(place.path, "laptop");
const backup = join(place.path, "backup");
/** With the built-in model, which the earlier version had. */
const builtIn = { CTXD_CACHE_DIR: testCacheDir };
/** A small real model, since only the same answers before and after matter. */
const model = join(place.path, "model");
const env = { ...builtIn, CTXD_MODEL: model };
let embedder: Awaited<ReturnType<typeof openChosenModel>>;
let key: string;
let saved: { id: string };
/** The state of the single machine when it was backed up. */
let original: Awaited<ReturnType<typeof contentsOf>>;
let shared: Awaited<ReturnType<typeof startShared>>;

/** What replicas share, still empty. */
async function startShared(own: Record<string, string> = builtIn) {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await (await sharedPostgres()).database());
  const objects = opening.use(await startObjectStore());
  const opened = opening.move();
  const settings = {
    ...own,
    CTXD_DATABASE_URL: database.url,
    CTXD_DRAIN_SECONDS: "0",
    ...objects.settings(),
  };
  return {
    url: database.url,
    settings,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const newFolder = () => {
  const folder = join(place.path, crypto.randomUUID());
  mkdirSync(folder);
  return folder;
};

async function run(args: string[], dataDir: string, settings: Record<string, string> = env) {
  const outcome = await ctxd(args, { dataDir, env: settings });
  expect(outcome).toMatchObject({ exitCode: 0 });
  return outcome;
}

/** The data in a folder, with upkeep that is due at once: in the program deleted texts leave the files after 15 s. */
const openHastily = (dataDir: string) =>
  openData(
    dataDir,
    HASTY,
    createEmbedders(embedder, () => embedder),
  );

const exported = async ({ key }: Client, origin: string) => {
  const headers = { authorization: `Bearer ${key}` };
  return await (await fetch(`${origin}/api/memories/export`, { headers })).text();
};

async function contentsOf(client: Client, origin: string) {
  const found = await Promise.all(QUERIES.map((query) => client.search(query, { limit: 10 })));
  return {
    exported: await exported(client, origin),
    found: found.map((memories) => memories.map(({ id }) => id)),
  };
}

beforeAll(async () => {
  await writeWordModel(model);
  embedder = await openChosenModel({ model, cacheDir: testCacheDir, log: silentLog });
  const account = await addAccountTo(laptop);
  ({ key } = account);
  await allowApp(openSqlite(databasePath(laptop)), account.accountId);
  await run(["user", "quota", "you@example.com", "--memories", "20000"], laptop);
  const memories = Array.from({ length: MEMORIES }, (_, n) => ({
    content: `${SUBJECTS[n % SUBJECTS.length]} ${DEEDS[n % DEEDS.length]}, number ${n}`,
    tags: [`tag${n % 7}`],
  }));
  {
    await using data = await openHastily(laptop);
    const whole = wholeAccount(account.accountId);
    const forgotten = { content: `${FORGOTTEN} is to be forgotten` };
    const [first] = await data.memories.saveAll(whole, [forgotten]);
    for (let at = 0; at < MEMORIES; at += 100) {
      await data.memories.saveAll(whole, memories.slice(at, at + 100));
    }
    await data.memories.remove(whole, first?.id ?? "");
    expect(await untilGone(laptop, [FORGOTTEN], PATIENCE)).toEqual([]);
  }
  await using server = await serving(laptop, env);
  const client = server.client(key);
  saved = await client.save({ content: "saved once" }, { "idempotency-key": "once" });
  await client.update(saved.id, { content: "saved once and changed" });
  original = await contentsOf(client, server.origin);
  await run(["backup", backup], laptop);
  shared = await startShared(env);
}, TIMEOUT);
afterAll(async () => {
  await shared?.[Symbol.asyncDispose]();
  await embedder?.close();
  place[Symbol.dispose]();
});

test(
  "one machine's data is on every replica, and the replicas' data goes back to one machine",
  async () => {
    const { stderr } = await run(["restore", backup], newFolder(), shared.settings);
    expect(stderr).toContain("Restored 1 account, 1 table of memories");
    const second = await ctxd(["restore", backup], { dataDir: newFolder(), env: shared.settings });
    expect(second).toMatchObject({ stdout: "", exitCode: 1 });
    expect(second.stderr).toBe(
      "ctxd: The database of CTXD_DATABASE_URL is not empty: choose a new one.\n",
    );
    const access = await accessOf(openSqlite(databasePath(laptop)));
    expect(access).toMatchObject({ keys: [{}], grants: [{}], quota: { memories: 20_000 } });
    expect(await accessOf(await openPostgres(shared.url))).toEqual(access);

    let answered: string[] = [];
    const there = join(place.path, "there");
    {
      await using first = await serving(newFolder(), shared.settings);
      await using second = await serving(newFolder(), shared.settings);
      const replicas = [first, second];
      for (const { client, origin } of replicas) {
        expect(await contentsOf(client(key), origin)).toEqual(original);
        const again = await client(key).save(
          { content: "saved once" },
          { "idempotency-key": "once" },
        );
        expect(again.id).toBe(saved.id);
      }

      // Backs up while both replicas are written to.
      let isOver = false;
      const load = replicas.map(async ({ client }, writer) => {
        for (let count = 0; !isOver; count++) {
          const content = `written to replica ${writer}, ${count}`;
          await client(key).save({ content });
          answered.push(content);
          await Bun.sleep(PACE);
        }
      });
      await until("20 answered saves", () => answered.length >= 20);
      const before = [...answered];
      const gone = await first.client(key).save({ content: `${FORGOTTEN} again` });
      await second.client(key).remove(gone.id);
      await run(["backup", there], newFolder(), shared.settings);
      isOver = true;
      await Promise.all(load);
      answered = before;
    }

    const back = join(place.path, "back");
    await run(["restore", there], back);
    expect(await accessOf(openSqlite(databasePath(back)))).toEqual(access);
    {
      await using server = await serving(back, env);
      const now = await contentsOf(server.client(key), server.origin);
      const contents = new Set(
        now.exported
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line).content),
      );
      for (const line of original.exported.trim().split("\n")) expect(now.exported).toContain(line);
      for (const content of answered) expect(contents).toContain(content);
      expect(now.exported).not.toContain(FORGOTTEN);
      const again = await server
        .client(key)
        .save({ content: "saved once" }, { "idempotency-key": "once" });
      expect(again.id).toBe(saved.id);
    }
    await using _ = await openHastily(back);
    expect(await untilGone(back, [FORGOTTEN], PATIENCE)).toEqual([]);
  },
  TIMEOUT,
);

test.skipIf(!process.env.LONG)(
  "every replica has a backup of an earlier version, and none has what was deleted",
  async () => {
    await using other = await startShared();
    const archive = join(import.meta.dir, "..", "fixtures", "earlier-version.tar.gz");
    await Bun.$`tar -C ${place.path} -xzf ${archive} backup --transform s/^backup/earlier/`;
    await run(["restore", join(place.path, "earlier")], newFolder(), other.settings);
    await using first = await serving(newFolder(), other.settings);
    await using second = await serving(newFolder(), other.settings);
    for (const { key, memories } of told.accounts) {
      for (const { client, origin } of [first, second]) {
        const lines = (await exported(client(key), origin)).trim().split("\n");
        const ids = lines.map((line) => JSON.parse(line).id);
        expect(ids).toEqual(memories.map(({ id }) => id));
        const stats = (await client(key).send("GET", "/stats")).body;
        expect(stats).toMatchObject({ memories: memories.length });
        for (const { id, content } of memories.slice(0, 5)) {
          const found = await client(key).search(content.slice(0, 150), { limit: 5 });
          expect(found.map((memory) => memory.id)).toContain(id);
        }
        for (const word of told.gone) {
          expect(await client(key).search(word, { mode: "keyword" })).toEqual([]);
        }
      }
    }
  },
  TIMEOUT,
);

test.skipIf(!process.env.LONG)(
  "an interrupted change of the model continues on replicas",
  async () => {
    await using other = await startShared();
    const archive = join(import.meta.dir, "..", "fixtures", "earlier-version.tar.gz");
    await Bun.$`tar -C ${place.path} -xzf ${archive} changing`;
    const changing = join(place.path, "changing");
    // Migrates the schema, and starts nothing.
    await run(["user", "list"], changing, builtIn);
    const cutOff = join(place.path, "cut-off");
    await run(["backup", cutOff], changing, builtIn);
    const { stderr } = await run(["restore", cutOff], newFolder(), other.settings);
    expect(stderr).toContain("Restored 1 account, 2 tables of memories");
    const { key, memories } = told.changing;
    const ids = memories.map(({ id }) => id);
    {
      await using first = await serving(newFolder(), other.settings);
      await using second = await serving(newFolder(), other.settings);
      for (const { client, origin } of [first, second]) {
        const vectors = async () =>
          JSON.parse(await (await fetch(`${origin}/api/health`)).text()).checks.vectors;
        await until("embedded memories", async () => (await vectors()) === "ok");
        const lines = (await exported(client(key), origin)).trim().split("\n");
        expect(lines.map((line) => JSON.parse(line).id)).toEqual(ids);
      }
    }
    const done = join(place.path, "done");
    await run(["backup", done], newFolder(), other.settings);
    const { stderr: said } = await run(["restore", done], join(place.path, "changed"), builtIn);
    expect(said).toContain("Restored 1 account, 1 table of memories");
  },
  TIMEOUT,
);
