import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TidyReport } from "../../src/memories/rules/tidy/report.ts";
import { ownCommand } from "../../src/server/invocation.ts";
import { stopServer } from "../support/bridge.ts";
import { testCacheDir } from "../support/embedder.ts";

const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const dataDir = join(root, "data");
mkdirSync(dataDir);
const env = { HOME: root, CTXD_CACHE_DIR: testCacheDir, CTXD_PORT: "0" };

afterAll(async () => {
  await stopServer(dataDir);
  rmSync(root, { recursive: true, force: true });
});

async function run(...args: string[]) {
  const child = Bun.spawn([...ownCommand, ...args, "--data-dir", dataDir], {
    ...{ cwd: root, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { stdout, stderr, exitCode: await child.exited };
}

test("the command lists what could be tidied, and applies nothing unasked", async () => {
  const day = new Date(Date.now() + 86_400_000).toISOString();
  await run("save", "The demo is frozen.", "--expires", day);
  const listed = await run("tidy", "--kind", "expiring");
  expect(listed.exitCode).toBe(0);
  expect(listed.stdout).toMatch(/^expiring: 1 /);
  expect(listed.stdout).toContain("The demo is frozen.");
  expect((await run("tidy", "--apply", "expiring")).stderr).toContain("--apply needs --yes");
  // It expires anyway.
  const applied = await run("tidy", "--apply", "expiring", "--yes");
  expect(applied).toMatchObject({ exitCode: 0, stderr: "There was nothing to apply.\n" });
  expect((await run("tidy", "--undo", "unknown")).exitCode).toBe(1);
  const { kinds } = JSON.parse((await run("tidy", "--json")).stdout) as TidyReport;
  expect(kinds.expiring).toBe(1);
}, 90_000);
