import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config/config.ts";
import { databasePath } from "../../src/db/data-lock.ts";
import type { Database } from "../../src/db/database.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import type { Checks } from "../../src/http/health.ts";
import { createChecks } from "../../src/server/checks.ts";

/** A separate disk, which only root can create. CI runs as root. */
const disk = mkdtempSync(join(tmpdir(), "ctxd-disk-"));
const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk]).success;
if (!mounted) console.warn("skipped: mounting a tmpfs needs root");
const dataDir = join(disk, "data");
const memories = join(dataDir, "memories");
let db: Database;
let isReady = Promise.resolve();
let reembedded: number | null = null;
let lag = 0;
let tables = Promise.resolve({
  accounts: async (): Promise<string[]> => [],
  reembedded: () => reembedded,
  lag: () => lag,
});

beforeAll(() => {
  mkdirSync(memories, { recursive: true });
  db = openSqlite(databasePath(dataDir));
});

afterAll(async () => {
  await db.close();
  if (mounted) Bun.spawnSync(["umount", "--lazy", disk]);
  rmSync(disk, { recursive: true, force: true });
});

/** New checks, without cached results. */
function checks(): Checks {
  return createChecks({
    config: { dataDir, shared: null },
    data: { db, checks: {} },
    opening: tables,
    embedder: { ready: () => isReady },
    backups: { settings: () => null, isLate: () => false },
  });
}

describe("a healthy server", () => {
  test("passes all checks, and leaves no file behind", async () => {
    for (const [name, check] of Object.entries(checks())) {
      const expected = name === "backups" ? null : "ok";
      expect({ name, result: await check() }).toEqual({ name, result: expected });
    }
    expect(await Bun.file(join(dataDir, "health-check")).exists()).toBe(false);
  });

  test("reports `loading` while its model loads, and `failed` if that fails", async () => {
    isReady = new Promise(() => {});
    expect(await checks().embedding?.()).toBe("loading");
    isReady = Promise.reject(new Error("no model"));
    expect(await checks().embedding?.()).toBe("failed");
    isReady = Promise.resolve();
  });

  test("reports `loading` while its tables open", async () => {
    const open = tables;
    tables = new Promise(() => {});
    expect(await checks().memories?.()).toBe("loading");
    tables = open;
  });
});

test("a change of the model is reported with its progress, not as a failure", async () => {
  reembedded = 0.125;
  expect(await checks().vectors?.()).toBe("changing, 12 % done");
  reembedded = null;
});

test("upkeep that falls behind is reported as late, not as a failure", async () => {
  lag = 121;
  expect(await checks().upkeep?.()).toBe("late");
  lag = 0;
  expect(await checks().upkeep?.()).toBe("ok");
});

describe("the check fails", () => {
  test("when the database file is missing", async () => {
    renameSync(databasePath(dataDir), join(disk, "moved"));
    expect(await checks().database?.()).toBe("failed");
    renameSync(join(disk, "moved"), databasePath(dataDir));
    expect(await checks().database?.()).toBe("ok");
  });

  test("when the folder of memories is missing", async () => {
    renameSync(memories, join(disk, "moved"));
    expect(await checks().memories?.()).toBe("failed");
    renameSync(join(disk, "moved"), memories);
    expect(await checks().memories?.()).toBe("ok");
  });

  test.skipIf(!mounted)("when the disk is full", async () => {
    const filler = join(disk, "filler");
    writeFileSync(filler, new Uint8Array(20 << 20));
    expect(await checks().disk?.()).toBe("failed");
    rmSync(filler);
    expect(await checks().disk?.()).toBe("ok");
  });

  test.skipIf(!mounted)("when the disk is read-only", async () => {
    Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "ro,size=24m", "tmpfs", dataDir]);
    try {
      expect(await Promise.resolve(checks().disk?.()).catch(({ code }) => code)).toBe("EROFS");
    } finally {
      Bun.spawnSync(["umount", dataDir]);
    }
    expect(await checks().disk?.()).toBe("ok");
  });
});

describe("a server on shared data", () => {
  const shared = readConfig(
    {
      HOME: "/home/you",
      CTXD_DATABASE_URL: "postgres://a@b/c",
      CTXD_OBJECTS: "s3://memories",
      AWS_ACCESS_KEY_ID: "a",
      AWS_SECRET_ACCESS_KEY: "b",
    },
    {},
  ).shared;

  test("queries its database once for many probes, and lists no tables", async () => {
    let asked = 0;
    const isReachable = async () => {
      asked++;
      return false;
    };
    const accounts = () => Promise.reject(new Error("all accounts are listed"));
    const all = createChecks({
      config: { dataDir, shared },
      data: { db: { isReachable }, checks: { objects: () => "unreachable" } },
      opening: Promise.resolve({ accounts, reembedded: () => null, lag: () => 0 }),
      embedder: { ready: async () => {} },
      backups: { settings: () => null, isLate: () => false },
    });
    for (let probe = 0; probe < 50; probe++) expect(await all.database?.()).toBe("failed");
    expect(asked).toBe(1);
    expect(await all.memories?.()).toBe("ok");
    expect(await all.objects?.()).toBe("unreachable");
  });
});
