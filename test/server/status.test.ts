import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderOf, originOf, scheduleBackups } from "../../src/backup/schedule.ts";
import { readConfig } from "../../src/config/config.ts";
import { silentLog } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createServerStatus } from "../../src/server/status.ts";
import { temporaryFolder } from "../support/database.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";

const DAY = 86_400_000;
const OWNER = "acc_owner";

function status(env: Record<string, string>) {
  const config = readConfig({ CTXD_DATA_DIR: temporaryFolder(), ...env }, {});
  const schedule = scheduleBackups({
    settings: () => config.backups && { ...config.backups, recipients: [] },
    create: () => Promise.reject(new Error("no backup is due")),
    origin: async () => originOf(OWNER),
    clock: () => 10 * DAY,
    log: silentLog,
    metrics: createMetrics(),
  });
  return createServerStatus({
    config,
    env,
    backups: { ...schedule, isLate: () => true, change: async () => {} },
    store: { lag: () => 3 },
    model: fakeEmbedder().model,
    clock: () => 10 * DAY,
  });
}

test("agents reach a server without a key, except in a container or in the Debian service", () => {
  expect(status({}).isForAgents).toBe(true);
  for (const CTXD_INSTALLED_BY of ["image", "deb-service"]) {
    expect(status({ CTXD_INSTALLED_BY }).isForAgents).toBe(false);
  }
});

test("the commands that pages show run in any folder, and reach this server's data", async () => {
  const programs = temporaryFolder();
  // The script of package.json, without the installation that it begins with.
  const script = `#!/bin/sh\nshift\nexec "${process.execPath}" src/main.ts "$@"\n`;
  writeFileSync(join(programs, "bun"), script, { mode: 0o755 });
  const child = Bun.spawn(["sh", "-c", status({}).command("user list")], {
    cwd: "/",
    env: { PATH: `${programs}:${process.env.PATH}`, HOME: "/nonexistent" },
    stdout: "pipe",
    stderr: "pipe",
  });
  expect(await child.stdout.text()).toBe("");
  expect(await child.stderr.text()).toContain("No accounts yet");
  expect(await child.exited).toBe(0);
});

test("the status describes the running server", () => {
  const { disk, memory, startedAt, ...facts } = status({}).server();
  expect(facts).toMatchObject({ database: "SQLite", lag: 3, model: fakeEmbedder().model.id });
  expect(disk?.total).toBeGreaterThan(disk?.free ?? 0);
  expect(memory).toBeGreaterThan(1e6);
  expect(startedAt.getTime()).toBeLessThan(10 * DAY);
});

test("only complete backups of this server are listed, newest first", async () => {
  const folder = temporaryFolder();
  const make = (at: number, origin: string, isComplete = true) => {
    const path = folderOf(folder, at, origin);
    mkdirSync(path);
    if (isComplete) writeFileSync(join(path, "backup.json"), "{}");
  };
  make(1 * DAY, originOf(OWNER));
  make(2 * DAY, originOf(OWNER));
  make(3 * DAY, originOf("another"));
  make(4 * DAY, originOf(OWNER), false);
  const env = { CTXD_BACKUP_DIR: folder, CTXD_BACKUP_EVERY: "12h", CTXD_BACKUP_KEEP: "3" };
  const facts = await status(env).backups();
  expect(facts.complete.map(({ at }) => at)).toEqual([2 * DAY, DAY]);
  expect(facts).toMatchObject({
    isShared: false,
    problem: null,
    isFixed: true,
    schedule: { folder, every: DAY / 2, keep: 3, recipients: [], isLate: true },
  });
});

test("a missing backup folder is a problem, no schedule is none", async () => {
  const env = { CTXD_BACKUP_DIR: join(temporaryFolder(), "away") };
  const facts = await status(env).backups();
  expect(facts.problem).toContain(env.CTXD_BACKUP_DIR);
  const none = { isShared: false, isFixed: false, schedule: null, complete: [], problem: null };
  expect(await status({}).backups()).toMatchObject(none);
});
