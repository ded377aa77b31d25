import { Database as Sqlite } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import type { Lock } from "../../../src/backup/age.ts";
import { createBackup } from "../../../src/backup/create-backup.ts";
import { restoreShared } from "../../../src/backup/shared/restore-shared.ts";
import { openSharedSource } from "../../../src/backup/shared/shared-source.ts";
import { connectPostgres } from "../../../src/db/postgres.ts";
import { wholeAccount } from "../../../src/keys/reach.ts";
import { loadLanceDb } from "../../../src/native/lancedb.ts";
import type { Objects } from "../../../src/objects/objects.ts";
import { testCacheDir } from "../../support/embedder.ts";
import { listFiles } from "../../support/files.ts";
import { backUp, folderOfTest, openData, restore } from "../../support/live-data.ts";
import { outcomeOf } from "../../support/outcome.ts";
import { filesOf, openRecorded } from "../../support/recorded-data.ts";
import { sharedPlace } from "../../support/shared-place.ts";

type Place = Awaited<ReturnType<typeof sharedPlace>>;

const FORGOTTEN = "the zebra is to be forgotten";
const root = folderOfTest();
const dataDir = join(root.path, "data");
const good = join(root.path, "good");
const accounts: string[] = [];

/** Three accounts: one with a base and log entries, one with only a base, one with only log entries. */
beforeAll(async () => {
  const first = await openData(dataDir);
  for (const name of ["both", "base", "log"]) {
    const email = `${name}@example.com`;
    accounts.push((await first.accounts.add({ email, password: null })).id);
  }
  const [both = "", base = "", log = ""] = accounts;
  const some = (name: string) =>
    Array.from({ length: 40 }, (_, n) => ({ content: `number ${n} of ${name}` }));
  for (const id of [both, base]) await first.memories.saveAll(wholeAccount(id), some(id));
  const [forgotten] = await first.memories.saveAll(wholeAccount(both), [{ content: FORGOTTEN }]);
  await first.close();
  await using data = await openData(dataDir);
  await data.memories.remove(wholeAccount(both), forgotten?.id ?? "");
  await data.memories.saveAll(wholeAccount(both), [{ content: "newer than the base" }]);
  await data.memories.saveAll(wholeAccount(log), some(log));
  await backUp(dataDir, good);
}, 120_000);
afterAll(() => root[Symbol.dispose]());

const scratchOf = () => {
  const folder = join(root.path, crypto.randomUUID());
  mkdirSync(folder);
  return folder;
};

const restoreTo = (
  { postgres, objects }: Place,
  folder: string,
  options: Partial<Parameters<typeof restoreShared>[0]> = {},
) => restoreShared({ folder, dataDir: scratchOf(), postgres, objects, ...options });

async function backUpFrom(
  { database, objects }: Place,
  { lock = null, onRound }: { lock?: Lock | null; onRound?: () => Promise<void> } = {},
) {
  const [folder, scratch] = [join(root.path, crypto.randomUUID()), scratchOf()];
  const open = async () => {
    // Closed with the source.
    const postgres = connectPostgres(database.url);
    const source = await openSharedSource({ postgres, objects }, scratch);
    return {
      ...source,
      async copyDatabase(path: string) {
        await source.copyDatabase?.(path);
        await onRound?.();
      },
    };
  };
  const lancedb = await loadLanceDb(testCacheDir);
  const clock = Date.now;
  await createBackup({ dataDir: scratch, open, folder, version: "1", lancedb, clock, lock });
  expect(readdirSync(scratch)).toEqual([]);
  return folder;
}

/** The memories of each account in a data folder, and the results of a search. */
async function contentsOf(folder: string) {
  await using data = await openData(folder);
  return await Promise.all(
    accounts.map(async (id) => {
      const { memories } = await data.memories.list(wholeAccount(id), { filter: {}, limit: 100 });
      const query = {
        query: "number 7 newer",
        limit: 10,
        filter: {},
        minScore: 0,
        mode: "hybrid" as const,
      };
      return { id, memories, found: await data.memories.search(wholeAccount(id), query) };
    }),
  );
}

test("a backup of a data folder is restored to replicas, and one of replicas to a data folder", async () => {
  await using shared = await sharedPlace();
  const { manifest } = await restoreTo(shared, good);
  expect(manifest).toMatchObject({ accounts: 3, tables: 3 });
  const there = await backUpFrom(shared);
  const back = join(root.path, "back");
  await restore(there, back);
  const original = await contentsOf(dataDir);
  expect(original.map(({ memories }) => memories.length)).toEqual([41, 40, 40]);
  expect(await contentsOf(back)).toEqual(original);
});

test("deleted memories are in neither backup after the data folder purged them", async () => {
  await using shared = await sharedPlace();
  const folder = join(root.path, "forgetful");
  await restore(good, folder);
  await contentsOf(folder);
  const backup = join(root.path, "forgetful-backup");
  await backUp(folder, backup);
  await restoreTo(shared, backup);
  const there = await backUpFrom(shared);
  for (const file of await listFiles(there)) {
    expect(readFileSync(join(there, file)).includes(FORGOTTEN)).toBe(false);
  }
  const names = await shared.names();
  expect(names.length).toBeGreaterThan(3);
});

test("encrypted backups are restored in both directions", async () => {
  await using shared = await sharedPlace();
  const identity = await generateX25519Identity();
  const lock = { recipients: [await identityToRecipient(identity)] };
  const unlock = async () => ({ identities: [identity] });
  const sealed = join(root.path, "sealed");
  await backUp(dataDir, sealed, lock);
  expect(await outcomeOf(restoreTo(shared, sealed))).toThrow("encrypted");
  await restoreTo(shared, sealed, { unlock });
  const there = await backUpFrom(shared, { lock });
  expect((await listFiles(there)).every((file) => /\.age$|SHA256SUMS$/.test(file))).toBe(true);
  const back = join(root.path, "unsealed");
  await restore(there, back, identity);
  expect(await contentsOf(back)).toEqual(await contentsOf(dataDir));
});

test("when a flush replaces a base meanwhile, the newer base is backed up", async () => {
  await using shared = await sharedPlace();
  await restoreTo(shared, good);
  let rounds = 0;
  const replace = async () => {
    if (++rounds > 1) return;
    const [id = ""] = accounts;
    const { rows, query } = shared.postgres;
    const [former] = await query<{ base: string; files: string }>(
      "SELECT base, files FROM checkpoints WHERE name = $1",
      [id],
    );
    if (!former) throw new Error("there is no checkpoint");
    // Like a rewrite of the table, with the same rows.
    const next = `${id}.0badcafe`;
    const scratch = scratchOf();
    for (const [count, file] of (JSON.parse(former.files) as string[]).entries()) {
      const path = join(scratch, String(count));
      await shared.objects.fetch(`${former.base}/${file}`, path, null);
      await shared.objects.put(`${next}/${file}`, Bun.file(path));
      await shared.objects.remove(`${former.base}/${file}`);
    }
    await rows("UPDATE checkpoints SET base = $2 WHERE name = $1", [id, next]);
  };
  const there = await backUpFrom(shared, { onRound: replace });
  expect(rounds).toBe(2);
  expect(readdirSync(join(there, "memories"))).toContain(`${accounts[0]}.0badcafe.lance`);
  const back = join(root.path, "replaced");
  await restore(there, back);
  expect(await contentsOf(back)).toEqual(await contentsOf(dataDir));
});

test("a missing object of the newest checkpoint makes the backup fail", async () => {
  await using shared = await sharedPlace();
  await restoreTo(shared, good);
  const lost = (await shared.names()).find((name) => name.includes("/data/")) ?? "";
  await shared.objects.remove(lost);
  expect(await outcomeOf(backUpFrom(shared))).toThrow(`${lost.split("/")[0]}.lance is damaged`);
});

test("an object that is another one than was restored makes the backup fail", async () => {
  await using shared = await sharedPlace();
  await restoreTo(shared, good);
  const [one = "", other = ""] = (await shared.names()).filter((name) => name.includes("/data/"));
  const path = join(scratchOf(), "other");
  await shared.objects.fetch(other, path, null);
  await shared.objects.put(one, Bun.file(path));
  expect(await outcomeOf(backUpFrom(shared))).toThrow("OtherContent");
});

test("a store that only says that it has stored the files makes the restore fail", async () => {
  await using shared = await sharedPlace();
  const put: Objects["put"] = async (name, file) => {
    if (!name.includes("/_versions/")) await shared.objects.put(name, file);
  };
  const objects = { ...shared.objects, put };
  expect(await outcomeOf(restoreTo(shared, good, { objects }))).toThrow("OtherContent");
  expect(await shared.postgres.query("SELECT FROM accounts")).toEqual([]);
});

test("a database with data is refused unchanged", async () => {
  await using shared = await sharedPlace();
  await restoreTo(shared, good);
  const before = await shared.names();
  expect(await outcomeOf(restoreTo(shared, good))).toThrow("is not empty");
  expect(await shared.names()).toEqual(before);
});

test("an interrupted restore leaves no accounts, and the next one succeeds", async () => {
  await using shared = await sharedPlace();
  const count = async (table: string) =>
    (await shared.postgres.query(`SELECT FROM ${table}`)).length;
  const stored: Promise<void>[] = [];
  let stopped: Promise<void> | null = null;
  const put: Objects["put"] = async (name, file) => {
    if (stored.length === 3) stopped ??= Promise.all(stored).then(shared.store.stop);
    else if (!stopped) return await stored[stored.push(shared.objects.put(name, file)) - 1];
    await stopped;
    await shared.objects.put(name, file);
  };
  const objects = { ...shared.objects, put };
  expect(await outcomeOf(restoreTo(shared, good, { objects }))).toThrow("object store");
  await shared.store.start();
  for (const table of ["accounts", "heads", "checkpoints", "journal"]) {
    expect({ table, rows: await count(table) }).toEqual({ table, rows: 0 });
  }
  // The uploads are recorded, so that later servers find and remove them.
  const uploaded = new Set((await shared.names()).map((name) => name.split("/")[0]));
  expect(uploaded.size).toBeGreaterThan(0);
  const recorded = await shared.postgres.query<{ base: string }>("SELECT base FROM bases");
  for (const base of uploaded) expect(recorded.map((row) => row.base)).toContain(base ?? "");
  await restoreTo(shared, good);
  expect(await count("accounts")).toBe(3);
});

test("a server that uses the database makes the restore fail", async () => {
  await using shared = await sharedPlace();
  const sweep = async () => {
    await shared.postgres.query("UPDATE bases SET state = 'condemned' WHERE state = 'written'");
  };
  let sweeping = Promise.resolve();
  const onProgress = ({ step }: { step: string }) => {
    if (step === "uploading files") sweeping = sweep();
  };
  expect(await outcomeOf(restoreTo(shared, good, { onProgress }))).toThrow("stop all servers");
  await sweeping;
  expect(await shared.postgres.query("SELECT FROM accounts")).toEqual([]);
});

test("a restore to replicas ends sessions, codes, tokens and invitations, and keys only on request", async () => {
  const folder = join(root.path, "access");
  await restore(good, folder);
  {
    const sqlite = new Sqlite(join(folder, "ctxd.db"));
    const [id = ""] = accounts;
    sqlite.run(
      "INSERT INTO sessions (hash, account_id, created_at, expires_at) VALUES ('s', ?, 0, 9e15)",
      [id],
    );
    sqlite.run("INSERT INTO invitations VALUES ('i', 'h', NULL, 0, 9e15)");
    sqlite.run(
      "INSERT INTO api_keys (id, account_id, hash, prefix, name, scopes, created_at) VALUES ('k', ?, 'h', 'p', 'n', '', 0)",
      [id],
    );
    sqlite.close();
  }
  const backup = join(root.path, "access-backup");
  await backUp(folder, backup);
  for (const revokeKeys of [false, true]) {
    await using shared = await sharedPlace();
    const { ended } = await restoreTo(shared, backup, { revokeKeys });
    expect(ended).toEqual({ sessions: 1, apps: 0, invitations: 1, keys: 1 });
    expect(await shared.postgres.query("SELECT FROM sessions")).toEqual([]);
    expect(await shared.postgres.query("SELECT FROM invitations")).toEqual([]);
    expect(
      await shared.postgres.query("SELECT revoked_at IS NOT NULL AS gone FROM api_keys"),
    ).toEqual([{ gone: revokeKeys }]);
  }
});

test("a backup of an earlier version is restored to replicas, and is then of this version", async () => {
  await using shared = await sharedPlace();
  const archive = join(import.meta.dir, "../../fixtures/earlier-version.tar.gz");
  await Bun.$`tar -C ${root.path} -xzf ${archive} backup`;
  const earlier = join(root.path, "backup");
  await restoreTo(shared, earlier);
  const there = await backUpFrom(shared);
  const [direct, back] = [join(root.path, "earlier"), join(root.path, "earlier-back")];
  await restore(earlier, direct);
  await restore(there, back);
  // Compares stored memories, because the vectors are of that version's model.
  const stored = async (folder: string) => {
    using data = openRecorded(folder);
    const tables = (await data.log.allCurrent()).sort((a, b) => (a.name < b.name ? -1 : 1));
    return await Promise.all(
      tables.map(async ({ name, model }) => {
        const head = await data.log.head(name);
        const entries = (await data.log.entries(name)).map(({ seq: _, ...entry }) => entry);
        const files = head?.checkpoint ? await filesOf(folder, head.checkpoint.base) : [];
        return { name, model, usage: head?.usage, files, entries };
      }),
    );
  };
  const found = await stored(back);
  expect(found).toEqual(await stored(direct));
  expect(found.some(({ entries }) => entries.length > 0)).toBe(true);
  expect(found.some(({ files }) => files.length > 0)).toBe(true);
});
