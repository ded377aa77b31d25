import { afterAll, beforeAll, expect, test } from "bun:test";
import { basename, join } from "node:path";
import { connectPostgres } from "../../src/db/postgres.ts";
import { migratePostgres } from "../../src/db/postgres-migrations.ts";
import { checkShared } from "../../src/doctor/shared.ts";
import { createPostgresLog } from "../../src/memories/log/postgres-log.ts";
import { createObjects } from "../../src/objects/objects.ts";
import { writeBase } from "../memories/base/vault-contract.ts";
import { recordBase } from "../memories/log/log-under-test.ts";
import { temporaryFolder } from "../support/database.ts";
import { type ObjectStore, startObjectStore } from "../support/object-store.ts";
import { sharedPostgres } from "../support/postgres.ts";

let store: ObjectStore;
beforeAll(async () => {
  store = await startObjectStore();
});
afterAll(() => store.end());

async function migrated(url: string) {
  const postgres = connectPostgres(url);
  await migratePostgres(postgres);
  await postgres.close();
}

/** A database with an account and a prefix of the object store, as created by a server. */
async function setUp(fill: ((url: string) => Promise<void>) | undefined = migrated) {
  const server = await sharedPostgres();
  const { url } = await server.database(fill);
  const dataDir = temporaryFolder();
  const place = store.place(basename(dataDir));
  const put = (base: string) =>
    createObjects(place).put(`${base}/data/1.lance`, new Blob(["LANC"]));

  const examine = async ({
    databaseUrl = url,
    now = Date.now,
    bucket = place.bucket,
    capturing = [] as string[],
  } = {}) => {
    const settings = { databaseUrl, objects: { ...place, bucket }, cacheBytes: 10_000_000 };
    const options = { settings, dataDir, capturing, clock: now };
    const findings = await Array.fromAsync(checkShared(options));
    return Object.fromEntries(findings.map(({ check, ...finding }) => [check, finding]));
  };
  return { url, dataDir, put, examine };
}

/** Writes an entry, and records a base with it. */
async function record(url: string, base: string) {
  const postgres = connectPostgres(url);
  await postgres.rows(
    "INSERT INTO accounts (id, email, role, created_at) VALUES ('acc', 'a', 'owner', 0)",
  );
  const log = createPostgresLog(postgres);
  const upTo = await log.append("acc", {
    ...{ model: "m", written: new Uint8Array(100), removed: [], leavesOldData: false },
    ...{ usage: { memories: 1, bytes: 1 }, answers: [] },
  });
  await recordBase(log, "acc", { base, version: 1, files: ["data/1.lance"], upTo });
  await postgres.close();
}

test("without problems each part has one ok finding", async () => {
  const { url, put, dataDir, examine } = await setUp();
  await put("acc.1");
  await record(url, "acc.1");
  writeBase(join(dataDir, "memories"), "acc.1", { "data/1.lance": "LANC".repeat(500) });
  const findings = await examine();
  expect(Object.values(findings).map(({ state }) => state)).toEqual(Array(7).fill("ok"));
  expect(findings.activity?.message).toBe("no agent has used the memories yet");
  expect(findings.database?.message).toMatch(/^PostgreSQL [\d.]+.*, schema \d+$/);
  expect(findings.journal?.message).toStartWith("1 entries (1 kB), the oldest of 20");
  expect(findings.tables?.message).toBe("1 bases have their files in the object store");
  expect(findings["local copies"]?.message).toBe("1 tables, 2 kB of 10.0 MB (CTXD_CACHE_SIZE)");
});

test("agents are named, and those whose hooks capture nothing are a warning", async () => {
  const { url, examine } = await setUp();
  await record(url, "acc.1");
  const postgres = connectPostgres(url);
  for (const ago of [1, 2]) {
    const at = Date.now() - ago * 86_400_000;
    await postgres.rows(
      "INSERT INTO activity_days VALUES ('acc', $1, 'saved', 'local', 'codex', '', 1, 0, 3, $2)",
      [new Date(at).toISOString().slice(0, 10), at],
    );
  }
  await postgres.close();
  const [{ activity: well }, { activity: dead }] = [
    await examine(),
    await examine({ capturing: ["codex"] }),
  ];
  expect(well?.state).toBe("ok");
  expect(well?.message).toContain("codex on this machine: last capture never");
  expect(well?.message).toContain("6 memories brought in 90 days, 0 of them of use");
  expect(dead?.state).toBe("warning");
  expect(dead?.message).toContain(
    "codex on this machine was active on 2 days and captured nothing",
  );
});

test("before the first start there are no problems", async () => {
  const { examine } = await setUp(async () => {});
  const findings = await examine();
  expect(Object.values(findings).map(({ state }) => state)).toEqual(Array(6).fill("ok"));
  expect(findings.database?.message).toEndWith("empty: the first start creates the schema");
});

test("missing files of a table are a problem, unused files a warning", async () => {
  const { url, put, examine } = await setUp();
  await put("acc.0");
  await put("another-installations.1");
  await record(url, "acc.1");
  expect((await examine()).tables).toEqual({
    state: "problem",
    message: "1 of 1 bases have no files in the object store (acc.1): restore a backup.",
  });
  await put("acc.1");
  expect((await examine()).tables).toEqual({
    state: "warning",
    message:
      "1 bases have their files in the object store, which also has files of 1 unused bases: servers remove them within two hours.",
  });
});

test("a wrong password is a problem whose message does not contain it, and the object store is still checked", async () => {
  const { url, examine } = await setUp();
  const wrong = new URL(url);
  wrong.password = "secret-of-mine";
  const findings = await examine({ databaseUrl: wrong.href });
  expect(Object.keys(findings)).toEqual(["database", "object store", "local copies"]);
  expect(findings.database?.state).toBe("problem");
  expect(findings.database?.message).toContain("refuses the user postgres or the password");
  expect(JSON.stringify(findings)).not.toContain("secret-of-mine");
  expect(findings["object store"]?.state).toBe("ok");
});

test("a missing bucket and a wrong clock are problems", async () => {
  const { examine } = await setUp();
  const findings = await examine({ bucket: "other", now: () => Date.now() - 3_600_000 });
  expect(findings["object store"]).toMatchObject({ state: "problem" });
  expect(findings["object store"]?.message).toContain("The bucket other of CTXD_OBJECTS");
  expect(findings.tables).toBeUndefined();
  expect(findings.clock?.state).toBe("problem");
  expect(findings.clock?.message).toStartWith("this machine's clock is 3600 s behind PostgreSQL's");
});

test("overdue flushes are a warning", async () => {
  const { url, examine } = await setUp();
  await record(url, "acc.1");
  const postgres = connectPostgres(url);
  await postgres.rows("UPDATE heads SET due_at = 1");
  await postgres.close();
  const { journal } = await examine();
  expect(journal?.state).toBe("warning");
  expect(journal?.message).toContain("1 of them overdue for a flush");
});
