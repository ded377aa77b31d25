import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scheduleBackups } from "../../src/backup/schedule.ts";
import type { ScheduleSettings } from "../../src/backup/schedule-settings.ts";
import { checkBackups } from "../../src/doctor/examine.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { createLog } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { testClock } from "../support/database.ts";
import { backUp, folderOfTest, openData, restore } from "../support/live-data.ts";
import { readMetrics } from "../support/metrics.ts";

const HOUR = 3_600_000;
const place = folderOfTest();
const dataDir = join(place.path, "data");
const folder = join(place.path, "backups");
const settings = { folder, every: 24 * HOUR, keep: 2, recipients: [] };
/** A disk that is too small. Only root can mount one, as in CI. */
const disk = join(place.path, "disk");
mkdirSync(disk);
const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]).success;
if (!mounted) console.warn("skipped: a tmpfs can't be mounted here, which takes root");
const lines: string[] = [];
const log = createLog({ logLevel: "info", logFormat: "text" }, (line) => lines.push(line));
let data: Awaited<ReturnType<typeof openData>>;
let clock = testClock();

beforeAll(async () => {
  data = await openData(dataDir);
  const { id } = await data.accounts.add({ email: "you@example.com", password: null });
  await data.memories.saveAll(wholeAccount(id), [{ content: "kept" }]);
});
afterAll(async () => {
  await data.close();
  if (mounted) Bun.spawnSync(["umount", "--lazy", disk]);
  place[Symbol.dispose]();
});
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  lines.length = 0;
  clock = testClock();
});

function create(
  wanted: ScheduleSettings = settings,
  make = (target: string) => backUp(dataDir, target),
  origin: string | null = null,
) {
  const metrics = createMetrics();
  const schedule = scheduleBackups({
    ...{ settings: () => wanted, create: make, clock, log, metrics },
    origin: async () => origin,
  });
  const sum = async (name: string, labels = {}) =>
    readMetrics(await metrics.text()).sum(name, labels);
  return { ...schedule, sum };
}
const names = () => readdirSync(folder).sort();

test("the first backup is created immediately, the next on time, and old ones are removed", async () => {
  const { check, isLate, sum } = create();
  expect(isLate()).toBe(false);
  await check();
  expect(names()).toEqual(["ctxd-2026-01-01T00-00-00Z"]);
  clock.advance(23 * HOUR);
  await check();
  expect(names()).toHaveLength(1);
  for (const _ of [1, 2, 3]) {
    clock.advance(24 * HOUR);
    await check();
  }
  expect(names()).toEqual(["ctxd-2026-01-03T23-00-00Z", "ctxd-2026-01-04T23-00-00Z"]);
  expect(isLate()).toBe(false);
  expect(await sum("ctxd_backups_total", { result: "ok" })).toBe(4);
  expect(await sum("ctxd_last_backup_timestamp_seconds")).toBe(clock() / 1_000);
  const target = join(place.path, "restored");
  await restore(join(folder, names()[0] ?? ""), target);
  rmSync(target, { recursive: true });
});

test("a missed backup is created at the start, an early one is not", async () => {
  await create().check();
  await create().check();
  expect(names()).toHaveLength(1);
  clock.advance(100 * HOUR);
  expect((await checkBackups(settings, clock())).state).toBe("problem");
  await create().check();
  expect(names()).toHaveLength(2);
  expect(await checkBackups(settings, clock())).toMatchObject({
    state: "ok",
    message: expect.stringContaining("2 in "),
  });
});

test("two servers with one folder do not touch each other's backups", async () => {
  const [one, other] = [
    create(settings, undefined, "11111111"),
    create(settings, undefined, "22222222"),
  ];
  await create().check();
  mkdirSync(join(folder, "ctxd-2026-01-01T00-00-00Z-22222222"));
  for (const _ of [1, 2, 3]) {
    clock.advance(24 * HOUR);
    await one.check();
  }
  // Its first backup, and the unfinished one of a crash.
  expect(names()).toEqual([
    "ctxd-2026-01-01T00-00-00Z-22222222",
    "ctxd-2026-01-03T00-00-00Z-11111111",
    "ctxd-2026-01-04T00-00-00Z-11111111",
  ]);
  await other.check();
  expect(names()).toEqual([
    "ctxd-2026-01-03T00-00-00Z-11111111",
    "ctxd-2026-01-04T00-00-00Z-11111111",
    "ctxd-2026-01-04T00-00-00Z-22222222",
  ]);
});

test("a clock that was set back neither delays the next backup nor repeats it", async () => {
  await create().check();
  clock.advance(-1_000 * HOUR);
  const { check, isLate } = create();
  await check();
  expect(names()).toHaveLength(2);
  for (const _ of [1, 2, 3]) {
    clock.advance(60_000);
    await check();
  }
  expect(names()).toHaveLength(2);
  clock.advance(24 * HOUR);
  await check();
  // A backup with a time in the future is removed first.
  expect(names()).toEqual(["ctxd-2025-11-20T08-00-00Z", "ctxd-2025-11-21T08-03-00Z"]);
  expect(isLate()).toBe(false);
});

test("a failure is logged and retried later, and removes no older backup", async () => {
  await create().check();
  clock.advance(24 * HOUR);
  let isBroken = true;
  const { check, isLate, sum } = create({ ...settings, keep: 1 }, async (target) => {
    const manifest = await backUp(dataDir, target);
    // The content on the disk differs from the written one.
    if (isBroken) truncateSync(join(target, "ctxd.db"), 100);
    return manifest;
  });
  await check();
  expect(names()).toEqual(["ctxd-2026-01-01T00-00-00Z"]);
  expect(lines.join("\n")).toMatch(
    /error backup_failed cause=".*ctxd\.db differs from backup\.json/,
  );
  expect(isLate()).toBe(true);
  expect(await sum("ctxd_backups_total", { result: "failed" })).toBe(1);
  lines.length = 0;
  await check();
  expect(lines).toEqual([]);

  isBroken = false;
  clock.advance(10 * 60_000);
  await check();
  expect(names()).toEqual(["ctxd-2026-01-02T00-10-00Z"]);
  expect(isLate()).toBe(false);
});

test("unfinished backups are removed, other folders stay", async () => {
  mkdirSync(folder);
  await backUp(dataDir, join(folder, "by-hand"));
  cpSync(join(folder, "by-hand"), join(folder, "ctxd-2025-12-01T00-00-00Z"), { recursive: true });
  rmSync(join(folder, "ctxd-2025-12-01T00-00-00Z", "backup.json"));
  writeFileSync(join(folder, "notes.txt"), "mine");
  const { check } = create();
  await check();
  expect(names()).toEqual(["by-hand", "ctxd-2026-01-01T00-00-00Z", "notes.txt"]);
});

test("a folder that can't be created is reported, by the doctor too", async () => {
  const missing = { ...settings, folder: join(place.path, "not", "mounted") };
  const { check, isLate } = create(missing);
  await check();
  expect(isLate()).toBe(true);
  expect(lines.join("\n")).toContain(`${join(place.path, "not")} does not exist`);
  expect(await checkBackups(missing, clock())).toMatchObject({
    state: "problem",
    message: expect.stringContaining("does not exist"),
  });
});

test.skipIf(!mounted)("a full disk is reported, and the partial backup is removed", async () => {
  const { check, isLate } = create({ ...settings, folder: join(disk, "backups") });
  await check();
  expect(isLate()).toBe(true);
  expect(lines.join("\n")).toContain("full");
  expect(readdirSync(join(disk, "backups"))).toEqual([]);
});

test("stopping aborts a running backup without an error", async () => {
  const begun = Promise.withResolvers<void>();
  const schedule = scheduleBackups({
    settings: () => settings,
    create: (_, { signal }) =>
      new Promise((_, reject) => {
        signal.onabort = () => reject(signal.reason);
        begun.resolve();
      }),
    origin: async () => null,
    clock,
    log,
    metrics: createMetrics(),
  });
  schedule.start();
  await begun.promise;
  await schedule.stop();
  expect(lines).toEqual([]);
});
