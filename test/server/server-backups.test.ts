import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { lockOf } from "../../src/backup/age.ts";
import { readConfig } from "../../src/config/config.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { silentLog } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createSecurityLog } from "../../src/security-log/security-log.ts";
import { createServerBackups } from "../../src/server/backup-schedule.ts";
import { measureParsing } from "../stalls/measure-parsing.ts";
import { testCacheDir } from "../support/embedder.ts";
import { folderOfTest, openData, restore } from "../support/live-data.ts";
import { outcomeOf } from "../support/outcome.ts";

const HOUR = 3_600_000;
const place = folderOfTest();
const dataDir = join(place.path, "data");
const folder = join(place.path, "backups");
const schedule = { folder, every: 24 * HOUR, keep: 2, recipients: [] };
let data: Awaited<ReturnType<typeof openData>>;

beforeAll(async () => {
  data = await openData(dataDir);
  const { id } = await data.accounts.add({ email: "you@example.com", password: null });
  await data.memories.saveAll(wholeAccount(id), [{ content: "kept" }]);
});
afterAll(async () => {
  await data.close();
  place[Symbol.dispose]();
});

/** The backups of a server that has just started on the data. */
async function start(env: Record<string, string> = {}) {
  const config = {
    ...readConfig({ CTXD_DATA_DIR: dataDir, ...env }, {}),
    cacheDir: testCacheDir,
  };
  const parts = { db: data.db, clock: Date.now, log: silentLog };
  const securityLog = createSecurityLog(parts);
  const accounts = createAccounts(parts);
  const metrics = createMetrics();
  const backups = await createServerBackups(config, {
    ...{ accounts, securityLog, metrics, log: silentLog },
  });
  return {
    ...backups,
    async [Symbol.asyncDispose]() {
      await backups.stop();
      await securityLog.close();
    },
  };
}

test("a chosen schedule makes a backup at once, and is kept for the next start", async () => {
  {
    await using backups = await start();
    expect(backups.settings()).toBeNull();
    await backups.createNow();
    expect(existsSync(folder)).toBe(false);
    await backups.change(schedule);
    await backups.check();
    expect(backups.state().failure).toBeNull();
    expect(await backups.list()).toHaveLength(1);
  }
  expect(statSync(join(dataDir, "backups.json")).mode & 0o777).toBe(0o600);
  await using backups = await start();
  expect(backups.settings()).toEqual(schedule);
  await backups.check();
  expect(readdirSync(folder)).toHaveLength(1);
  const target = join(place.path, "restored");
  await restore(join(folder, readdirSync(folder)[0] ?? ""), target);
  await backups.change(null);
  expect(backups.settings()).toBeNull();
  expect(existsSync(join(dataDir, "backups.json"))).toBe(false);
});

test("a backup is made when it is asked for, and a second one waits for it", async () => {
  await using backups = await start();
  const series = join(place.path, "by-hand");
  await backups.change({ ...schedule, folder: series, every: null });
  await backups.check();
  expect(readdirSync(series)).toEqual([]);
  const steps = new Set<string>();
  const watching = setInterval(() => {
    const { running } = backups.state();
    if (running) steps.add(running.done?.step ?? "begun");
  }, 1);
  await Promise.all([backups.createNow(), backups.createNow()]);
  clearInterval(watching);
  expect(steps.size).toBeGreaterThan(0);
  expect(backups.state()).toEqual({ running: null, failure: null });
  expect(readdirSync(series)).toHaveLength(1);
  expect(backups.isLate()).toBe(false);
});

test("a backup for a recipient is encrypted, and says so when it can't be", async () => {
  await using backups = await start();
  const { generateX25519Identity, identityToRecipient } = await import("age-encryption");
  const recipient = await identityToRecipient(await generateX25519Identity());
  const series = join(place.path, "encrypted");
  await backups.change({ ...schedule, folder: series, recipients: [recipient] });
  await backups.check();
  const [name = ""] = readdirSync(series);
  const key = await Bun.file(join(series, name, "key.age")).bytes();
  expect(lockOf(key)).toBe("identity");
  for (const wrong of ["age1wrong", "AGE-SECRET-KEY-1", recipient.slice(0, -1)]) {
    expect(await outcomeOf(backups.change({ ...schedule, recipients: [wrong] }))).toThrow(
      "is not valid: age-keygen prints one",
    );
  }
});

test("a folder that can't take backups is refused, with the reason", async () => {
  await using backups = await start();
  await backups.change(null);
  const file = join(place.path, "file");
  writeFileSync(file, "");
  const link = join(place.path, "link");
  symlinkSync(dataDir, link);
  mkdirSync(join(place.path, "there"), { recursive: true });
  for (const [wrong, reason] of [
    ["backups", "Enter the whole path"],
    ["", "Enter the whole path"],
    [dataDir, "is inside the data folder"],
    [join(dataDir, "backups"), "is inside the data folder"],
    [join(link, "backups"), "is inside the data folder"],
    [join(place.path, "no", "disk"), "is its disk mounted?"],
    [join(file, "backups"), "can't be written"],
    [file, "can't be written"],
  ] as const) {
    expect(await outcomeOf(backups.change({ ...schedule, folder: wrong }))).toThrow(reason);
  }
  expect(backups.settings()).toBeNull();
  expect(readdirSync(dataDir)).not.toContain("backups");
});

test("the settings of the environment are used, and those of the form wait", async () => {
  {
    await using backups = await start();
    await backups.change(schedule);
  }
  const other = join(place.path, "other");
  await using backups = await start({ CTXD_BACKUP_DIR: other, CTXD_BACKUP_EVERY: "1h" });
  expect(backups.settings()).toEqual({ folder: other, every: HOUR, keep: 7, recipients: [] });
  writeFileSync(join(dataDir, "backups.json"), "{}");
  expect(await outcomeOf(start())).toThrow("is damaged");
});

/** Processor time of a backup in this thread, as a multiple of what it takes to parse a megabyte: 12 ms when quiet. */
const RATIO = 40;

test("requests are answered while a large database is copied", async () => {
  const series = join(place.path, "large");
  const { sqlite } = data.db;
  sqlite.run("CREATE TABLE large (bytes BLOB)");
  for (let megabyte = 0; megabyte < 128; megabyte++) {
    sqlite.run("INSERT INTO large VALUES (randomblob(1 << 20))");
  }
  await using backups = await start({ CTXD_BACKUP_DIR: series });
  // Loads what a running server has loaded.
  await backups.createNow();
  // Copying in this thread takes it a second of processor time.
  const before = process.threadCpuUsage();
  await backups.createNow();
  const { user, system } = process.threadCpuUsage(before);
  expect(readdirSync(series)).toHaveLength(2);
  expect((user + system) / 1_000).toBeLessThan(RATIO * measureParsing());
});
