import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launchd } from "../../src/system/services/launchd.ts";
import { systemd } from "../../src/system/services/systemd.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";

const isLinux = process.platform === "linux";
const verify = Bun.which("systemd-analyze");
/** Characters that are special for systemd, and allowed in paths and settings. */
const ODD = "a \"quoted\" $HOME %h \\ 'word' with <tags> & spaces";

/** A home folder, and a systemctl that records its calls and ends with a given exit code. */
function machine(exitCode = 0) {
  const home = temporaryFolder();
  const bin = join(home, "bin");
  mkdirSync(bin);
  const calls = join(home, "calls");
  const script = `#!/bin/sh\necho "$@" >> ${calls}\necho "no bus" >&2\nexit ${exitCode}\n`;
  writeFileSync(join(bin, "systemctl"), script, { mode: 0o755 });
  return {
    unit: join(home, ".config", "systemd", "user", "ctxd.service"),
    env: { HOME: home, PATH: `${bin}:/usr/bin:/bin` },
    calls: () => (existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : []),
  };
}

describe.skipIf(!isLinux)("ctxd service", () => {
  test("writes a unit, starts it, shows its state, and removes it", async () => {
    const { unit, env, calls } = machine();
    const dataDir = temporaryFolder();
    const settings = { ...env, CTXD_PORT: "8123" };
    const installed = await ctxd(["service", "install"], { env: settings, dataDir });
    expect(installed).toMatchObject({ exitCode: 0, stdout: "" });
    expect(installed.stderr).toContain(`Written: ${unit}`);
    const text = readFileSync(unit, "utf8");
    expect(text).toContain('Environment="CTXD_PORT=8123"');
    expect(text).toContain(`"serve" "--data-dir" "${dataDir}"`);
    expect(statSync(unit).mode & 0o777).toBe(0o600);
    expect(calls()).toEqual([
      "--user daemon-reload",
      "--user enable --now ctxd.service",
      "--user restart ctxd.service",
    ]);
    const again = await ctxd(["service", "install"], { env: settings, dataDir });
    expect(again.stderr).toContain(`Already there: ${unit}`);
    expect(await ctxd(["service", "status"], { env })).toMatchObject({
      stdout: "running\n",
      exitCode: 0,
    });
    expect((await ctxd(["service", "uninstall"], { env })).exitCode).toBe(0);
    expect(existsSync(unit)).toBe(false);
    expect(await ctxd(["service", "status"], { env })).toMatchObject({
      stdout: "not installed\n",
      exitCode: 1,
    });
    expect((await ctxd(["service", "uninstall"], { env })).stderr).toContain("There is no service");
  });

  test("reports a system without systemd, and a systemd that does not answer", async () => {
    const { unit, env } = machine(1);
    const failed = await ctxd(["service", "install"], { env });
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toContain(`Written: ${unit}`);
    expect(failed.stderr).toMatch(/systemctl --user daemon-reload failed \(no bus\)/);
    expect(await ctxd(["service", "status"], { env })).toMatchObject({
      stdout: "installed, not running\n",
      exitCode: 1,
    });
    const missing = await ctxd(["service", "install"], { env: { ...env, PATH: "/nonexistent" } });
    expect(missing.stderr).toContain("systemctl was not found");
    expect((await ctxd(["service", "uninstall"], { env })).exitCode).toBe(0);
    expect(existsSync(unit)).toBe(false);
  });

  test("leaves no partial changes when files can't be written", async () => {
    const { env, calls } = machine();
    writeFileSync(join(env.HOME, ".config"), "a file");
    const { stderr, exitCode } = await ctxd(["service", "install"], { env });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("nothing was changed");
    expect(calls()).toEqual([]);
  });
});

test("a service without an environment reads its settings from a file", async () => {
  const file = join(temporaryFolder(), "service.json");
  const start = () => ctxd(["service", "run", file]);
  const nothing = "does not contain a service's settings: run ctxd service install again.";
  expect((await start()).stderr).toContain(nothing);
  writeFileSync(file, JSON.stringify({ settings: { CTXD_PORT: 1 }, logFile: "log" }));
  expect((await start()).stderr).toContain(nothing);
  writeFileSync(file, JSON.stringify({ settings: { CTXD_PORT: "none" }, logFile: "log" }));
  expect(await start()).toMatchObject({
    stderr: expect.stringContaining('CTXD_PORT="none" is not valid'),
    exitCode: 2,
  });
});

test.skipIf(!verify)("systemd reads the unit's paths and settings unchanged", async () => {
  const folder = temporaryFolder();
  const command = ["/bin/echo", "serve", ODD];
  const unit = join(folder, "ctxd.service");
  const env = { CTXD_DATA_DIR: ODD };
  writeFileSync(unit, systemd(folder, undefined).describe({ command, env, logFile: "" }));
  const checked = Bun.spawnSync([`${verify}`, "verify", "--user", "--man=no", unit], {
    env: { ...process.env, XDG_RUNTIME_DIR: folder, HOME: folder },
  });
  expect(checked.stderr.toString()).toBe("");
  expect(checked.exitCode).toBe(0);
});

test("no character in a value ends a line of the unit", () => {
  const env = { CTXD_OIDC_NAME: "a\rExecStartPre=/bin/false\nb" };
  const text = systemd("/home/you", undefined).describe({ command: ["/x"], env, logFile: "" });
  expect(text).toContain('"CTXD_OIDC_NAME=a\\rExecStartPre=/bin/false\\nb"\n');
});

test("launchd's agent is XML with the same command and settings", () => {
  const { describe, path } = launchd("/Users/you", 501);
  const text = describe({ command: ["/bin/ctxd", ODD], env: { A: ODD }, logFile: "/tmp/log" });
  expect(path).toBe("/Users/you/Library/LaunchAgents/ctxd.plist");
  const strings: string[] = [];
  new HTMLRewriter().on("string", { text: ({ text }) => void strings.push(text) }).transform(text);
  const entities = { "&quot;": '"', "&#x27;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&" };
  const read = Object.entries(entities).reduce(
    (text, [entity, character]) => text.replaceAll(entity, character),
    strings.join(""),
  );
  expect(read).toContain(ODD);
});
