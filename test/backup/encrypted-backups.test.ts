import { afterAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { generateX25519Identity } from "age-encryption";
import { removeAbandonedCopies } from "../../src/backup/copy-state.ts";
import { scheduleBackups } from "../../src/backup/schedule.ts";
import { checkBackups } from "../../src/doctor/examine.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { createLog } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createEncryptedBackup, env, SECRET } from "../attack/support/encrypted-backup.ts";
import { ctxd } from "../support/command-line.ts";
import { testClock } from "../support/database.ts";
import { listFiles } from "../support/files.ts";
import { backUp, HASTY, openData, restore } from "../support/live-data.ts";
import { serving } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const backup = await createEncryptedBackup();
const { place, dataDir, identity, identityFile, recipient } = backup;
afterAll(() => backup[Symbol.dispose]());

const stranger = await generateX25519Identity();

describe("scheduled backups, without the identity on the server,", () => {
  const clock = testClock();
  const lines: string[] = [];
  const series = join(place.path, "series");
  const settings = { folder: series, every: 3_600_000, keep: 1, recipients: [] };
  const scheduled = (spoil: (folder: string) => void = () => {}) =>
    scheduleBackups({
      settings: () => settings,
      clock,
      metrics: createMetrics(),
      origin: async () => null,
      log: createLog({ logLevel: "info", logFormat: "text" }, (line) => lines.push(line)),
      create: async (folder) => {
        const manifest = await backUp(dataDir, folder, { recipients: [recipient] });
        spoil(folder);
        return manifest;
      },
    });

  test("are checked before an old backup is removed", async () => {
    await scheduled().check();
    const [first = ""] = readdirSync(series);
    for (const name of ["ctxd.db.age", "key.age", "backup.json.age", "SHA256SUMS"]) {
      clock.advance(7_200_000);
      await scheduled((folder) => truncateSync(join(folder, name), 100)).check();
      expect(readdirSync(series)).toEqual([first]);
      expect(lines.at(-1)).toMatch(
        /backup_failed cause=".*(differs from SHA256SUMS|SHA256SUMS is damaged)/,
      );
    }
    expect(await checkBackups(settings, clock())).toMatchObject({ state: "problem" });
    clock.advance(7_200_000);
    await scheduled().check();
    const [second = ""] = readdirSync(series);
    expect(second > first).toBe(true);
    expect(await checkBackups(settings, clock())).toMatchObject({ state: "ok" });
    const target = join(place.path, "from-series");
    await restore(join(series, second), target, identity);
    await backup.expectRestored(target);
  });

  test("that a crash has interrupted do not count and are removed", async () => {
    const cutOff = join(series, "ctxd-2020-01-01T00-00-00Z");
    mkdirSync(cutOff);
    writeFileSync(join(cutOff, "ctxd.db.age"), "half");
    clock.advance(7_200_000);
    await scheduled().check();
    expect(existsSync(cutOff)).toBe(false);
  });
});

test("a server with CTXD_BACKUP_RECIPIENT writes only encrypted backups", async () => {
  const served = join(place.path, "served");
  const series = join(place.path, "served-backups");
  cpSync(dataDir, served, { recursive: true });
  const settings = { CTXD_BACKUP_DIR: series, CTXD_BACKUP_RECIPIENT: `${recipient}, ${recipient}` };
  {
    await using server = await serving(served, settings);
    // A server that stops before it has read the backup again removes the backup.
    await until("the backup is made", () => / backup_(made|failed) /.test(server.errors()));
    expect(server.errors()).not.toContain("backup_failed");
  }
  const [name = ""] = readdirSync(series);
  const files = await listFiles(join(series, name));
  expect(files.filter((file) => !/(\.age|^SHA256SUMS)$/.test(file))).toEqual([]);
  const target = join(place.path, "served-restored");
  const flags = ["--identity", identityFile];
  expect(
    await ctxd(["restore", join(series, name), ...flags], { dataDir: target, env }),
  ).toMatchObject({ stdout: "", exitCode: 0 });
  await backup.expectRestored(target);
});

test("a server does not start with an invalid CTXD_BACKUP_RECIPIENT, and does not print a secret in it", async () => {
  for (const value of [stranger, `age1${"q".repeat(58)}`, "ssh-ed25519 AAAA"]) {
    const outcome = await ctxd(["serve", "--port", "0"], {
      dataDir: join(place.path, "unused"),
      env: { ...env, CTXD_BACKUP_RECIPIENT: value },
    });
    expect(outcome.exitCode).not.toBe(0);
    expect(outcome.stderr).toMatch(/recipient/);
    expect(outcome.stderr).not.toContain(value);
  }
});

test("the next backup removes an unencrypted copy of the database that a crash has left behind", async () => {
  const left = join(dataDir, "backing-up", "999999999-x.db");
  mkdirSync(join(dataDir, "backing-up"), { recursive: true });
  writeFileSync(left, SECRET);
  const folder = join(place.path, crypto.randomUUID());
  await backUp(dataDir, folder, { recipients: [recipient] });
  expect(existsSync(left)).toBe(false);
});

test("a start in a container removes the copy of a crashed server with the same process id", async () => {
  const own = join(dataDir, "backing-up", `${process.pid}-x.db`);
  const other = join(dataDir, "backing-up", `${process.ppid}-x.db`);
  mkdirSync(join(dataDir, "backing-up"), { recursive: true });
  for (const path of [own, other]) writeFileSync(path, SECRET);
  await removeAbandonedCopies(dataDir);
  expect(existsSync(own)).toBe(true);
  await removeAbandonedCopies(dataDir, true);
  expect(existsSync(own)).toBe(false);
  // The copy of a command that still runs.
  expect(existsSync(other)).toBe(true);
  rmSync(other);
});

test("encrypted backups made while memories are written and purged can be restored", async () => {
  const live = join(place.path, "live");
  await using data = await openData(live, HASTY);
  const { id } = await data.accounts.add({ email: "x@example.com", password: null });
  let isOver = false;
  const kept = new Set<string>();
  const load = (async () => {
    for (let count = 0; !isOver; count++) {
      const [made] = await data.memories.saveAll(wholeAccount(id), [{ content: `note ${count}` }]);
      if (made && count % 3 === 0) await data.memories.remove(wholeAccount(id), made.id);
      else if (made) kept.add(made.id);
      // A backup gives up when memories always change faster than it copies them.
      await Bun.sleep(5);
    }
  })();
  try {
    for (let round = 0; round < 2; round++) {
      const goal = kept.size + 30;
      await until("30 more memories are written", () => kept.size >= goal);
      const atLeast = [...kept];
      const folder = join(place.path, `live-${round}`);
      const target = join(place.path, `live-restored-${round}`);
      await backUp(live, folder, { recipients: [recipient] });
      await restore(folder, target, identity);
      await using restored = await openData(target);
      for (const memory of atLeast) {
        expect(await restored.memories.get(wholeAccount(id), memory)).toMatchObject({ id: memory });
      }
    }
  } finally {
    isOver = true;
    await load;
  }
});
