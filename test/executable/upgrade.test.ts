import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { executableName, ownTargetName, targetNamed } from "../../src/native/targets.ts";
import { buildExecutable } from "../support/executable.ts";
import { program, serveRelease } from "../support/releases.ts";

const BUILD_TIMEOUT = 20 * 60_000;
const TIMEOUT = 60_000;
const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const executable = join(folder, "ctxd");
const NAME = executableName(targetNamed(ownTargetName()));

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
  "an executable that was copied shows its changes, and that it can replace itself",
  async () => {
    const { stdout } = await run(["upgrade"]);
    expect(stdout).toStartWith(`What is new in ctxd ${version}:\n\n`);
    expect(stdout).toContain("\n### ");
    expect(stdout).toContain(`Installed:  as a single file (${executable})`);
    expect(stdout).toContain("To upgrade: ./ctxd upgrade --install");
    const byNpm = await run(["upgrade"], { CTXD_INSTALLED_BY: "npm" });
    expect(byNpm.stdout).toContain("To upgrade: npm install --global ctxd@latest");
  },
  TIMEOUT,
);

test(
  "an upgrade replaces an executable file, keeps the old one, and refuses an npm installation",
  async () => {
    await using server = serveRelease({ version: "99.0.0", files: { [NAME]: program("99.0.0") } });
    const env = { CTXD_RELEASES_URL: server.address };
    const refused = await run(["upgrade", "--install"], { ...env, CTXD_INSTALLED_BY: "npm" });
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(server.asked).toEqual([]);

    const { exitCode, stderr } = await run(["upgrade", "--install"], env);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: [
        `Installed: ctxd 99.0.0, in ${executable}`,
        `The old version, ${version}, is ${executable}.old`,
        `Before the new version opens your data, back it up with the old one: ${executable}.old backup FOLDER --data-dir ${folder}/.local/share/ctxd`,
        "",
      ].join("\n"),
    });
    expect(await Bun.$`${executable} --version`.text()).toBe("99.0.0\n");
    expect(await Bun.$`${executable}.old --version`.text()).toBe(`${version}\n`);
    expect(readdirSync(folder).filter((name) => name.includes("ctxd-"))).toEqual([]);
  },
  TIMEOUT,
);
