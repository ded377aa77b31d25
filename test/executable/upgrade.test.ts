import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { buildExecutable } from "../support/executable.ts";

const BUILD_TIMEOUT = 20 * 60_000;
const TIMEOUT = 120_000;
const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const executable = join(folder, "ctxd");

beforeAll(async () => cpSync(await buildExecutable(), executable), BUILD_TIMEOUT);
afterAll(() => rmSync(folder, { recursive: true }));

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([executable, ...args], {
    cwd: folder,
    env: { HOME: folder, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { stdout, stderr, exitCode: await child.exited };
}

test(
  "an executable that was copied shows its changes and how it is upgraded",
  async () => {
    const { stdout } = await run(["upgrade", "--changes"]);
    expect(stdout).toStartWith(`What is new in ctxd ${version}:\n\n`);
    expect(stdout).toContain("\n### ");
    expect(stdout).toContain(`Installed:  ctxd ${version}, as a single file (${executable})`);
    expect(stdout).toContain("Download the newer file from ");
    const byNpm = await run(["upgrade"], { CTXD_INSTALLED_BY: "npm" });
    expect(byNpm.stdout).toContain("To upgrade: npm install --global ctxd@latest");
  },
  TIMEOUT,
);
