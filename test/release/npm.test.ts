import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { make } from "../../src/build/release/npm/packages.ts";
import { executableName, ownTargetName, TARGET_NAMES, TARGETS } from "../../src/native/targets.ts";
import { serveRegistry } from "../support/npm-registry.ts";

/** Replaces the executable by a script. Its first argument says what it does. */
const STAND_IN = `#!/bin/sh
case $1 in
  tell) shift; echo "$CTXD_INSTALLED_BY"; printf '%s\\n' "$@"; cat; exit 3 ;;
  wait) trap 'echo stopped; exit 7' TERM; echo ready; read -r line ;;
  die) kill -KILL $$ ;;
esac
`;
const own = TARGET_NAMES.find((name) => name === ownTargetName());
const canRun = process.platform !== "win32" && own !== undefined && Bun.which("npm") !== null;
const node = Bun.which("node") ?? "node";
const folder = mkdtempSync(join(tmpdir(), "ctxd-npm-"));
const home = join(folder, "home");
const launcher = join(folder, "project", "node_modules", "ctxd", "launcher.cjs");
let registry: Awaited<ReturnType<typeof serveRegistry>>;

function start(command: string[], cwd: string, input = "") {
  return Bun.spawn(command, {
    cwd,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      npm_config_registry: registry.url,
      npm_config_update_notifier: "false",
      npm_config_audit: "false",
    },
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function run(command: string[], cwd: string, input = "") {
  const child = start(command, cwd, input);
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  return { out, errors, exitCode: child.exitCode, signal: child.signalCode };
}

beforeAll(async () => {
  if (!canRun) return;
  for (const path of [home, join(folder, "project"), join(folder, "other"), join(folder, "out")]) {
    mkdirSync(path);
  }
  const executables = Object.fromEntries(
    TARGET_NAMES.map((name) => [name, join(folder, executableName(name))]),
  );
  for (const path of Object.values(executables)) {
    await Bun.write(path, STAND_IN);
    chmodSync(path, 0o755);
  }
  const repository = "https://github.com/owner/ctxd";
  registry = await serveRegistry(
    await make({ version, repository, executables, out: join(folder, "out") }),
  );
  await Bun.write(join(folder, "project", "package.json"), "{}");
  await Bun.write(join(folder, "other", "package.json"), "{}");
  const installed = await run(["npm", "install", "ctxd"], join(folder, "project"));
  expect(installed).toMatchObject({ exitCode: 0 });
});

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe.skipIf(!canRun)("the npm package", () => {
  test("is small, and depends on one package for each system, which npm installs only there", () => {
    const all = registry.packages;
    expect(all.get("ctxd")).toMatchObject({
      version,
      bin: { ctxd: "launcher.cjs" },
      mcpName: "io.github.owner/ctxd",
      repository: { url: "git+https://github.com/owner/ctxd.git" },
      optionalDependencies: {
        "@ctxd/linux-x64": version,
        "@ctxd/linux-arm64": version,
        "@ctxd/darwin-arm64": version,
        "@ctxd/windows-x64": version,
      },
    });
    expect(all.get("@ctxd/client")).toMatchObject({
      version,
      exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
    });
    expect(all.get("@ctxd/linux-arm64")).toMatchObject({
      os: ["linux"],
      cpu: ["arm64"],
      libc: ["glibc"],
    });
    expect(all.get("@ctxd/windows-x64")).toMatchObject({ os: ["win32"], cpu: ["x64"] });
    for (const fields of all.values()) expect(fields).not.toHaveProperty("scripts");
    const installed = join(folder, "project", "node_modules", "@ctxd", own ?? "");
    expect(existsSync(join(installed, "NOTICE"))).toBe(true);
    const fetched = registry.asked.filter((path) => path.endsWith(".tgz")).sort();
    expect(fetched).toEqual([
      `/@ctxd/${own}/-/ctxd-${own}-${version}.tgz`,
      `/ctxd/-/ctxd-${version}.tgz`,
    ]);
  });

  test("npx passes arguments, input and exit code", async () => {
    const words = ["tell", "two words", "--flag"];
    const done = await run(["npx", "-y", "ctxd", ...words], join(folder, "other"), "input\n");
    expect(done).toMatchObject({ out: "npm\ntwo words\n--flag\ninput\n", exitCode: 3 });
  });

  test("passes signals on, and ends with the signal that ended the executable", async () => {
    const child = Bun.spawn([node, launcher, "wait"], { stdin: "pipe", stdout: "pipe" });
    let out = "";
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) {
      const isReady = out === "";
      out += decoder.decode(bytes);
      if (isReady) child.kill("SIGTERM");
    }
    expect([out, await child.exited]).toEqual(["ready\nstopped\n", 7]);
    expect((await run([node, launcher, "die"], folder)).signal).toBe("SIGKILL");
  });

  const onSystem = (system: string, arch: string, musl = false) => [
    "--eval",
    `Object.defineProperty(process, "platform", { value: "${system}" });
    Object.defineProperty(process, "arch", { value: "${arch}" });
    if (${musl}) process.report.getReport = () => ({ header: {} });
    process.argv.push("mcp");
    require(${JSON.stringify(launcher)});`,
  ];

  test.each([
    ["freebsd", "x64", "there is no executable for freebsd-x64, only for linux-x64, linux-arm64,"],
    ["darwin", "x64", "no executable for darwin-x64 (on a Mac with Apple silicon, use a Node.js"],
    ["win32", "x64", "the package @ctxd/windows-x64 is missing: install ctxd again"],
  ])("says in one sentence what is wrong on %s %s", async (system, arch, sentence) => {
    const done = await run([node, ...onSystem(system, arch)], folder);
    expect(done).toMatchObject({ out: "", exitCode: 1 });
    expect(done.errors).toContain(sentence);
    expect(done.errors.trim().split("\n")).toHaveLength(1);
  });

  test("explains a system with musl", async () => {
    const arch = own?.endsWith("x64") ? "arm64" : "x64";
    const done = await run([node, ...onSystem("linux", arch, true)], folder);
    expect(done.errors).toContain(
      `needs a Linux with glibc ${TARGETS["linux-x64"].glibc} or later; this one has musl`,
    );
  });

  test("is published last, and published packages are skipped", async () => {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    const stub = `#!/bin/sh
case $1 in
  --version) echo 11.19.1 ;;
  view) [ "$2" = "@ctxd/windows-x64@${version}" ] ;;
  publish) echo "$@" ;;
esac
`;
    await Bun.write(join(bin, "npm"), stub);
    chmodSync(join(bin, "npm"), 0o755);
    const script = join(import.meta.dir, "..", "..", ".ci", "publish-npm");
    const { stdout } = Bun.spawnSync([script, "out", "--provenance"], {
      cwd: folder,
      env: { PATH: `${bin}:${process.env.PATH}` },
    });
    const file = (name: string) =>
      `publish ./out/${name}-${version}.tgz --access public --provenance`;
    expect(stdout.toString().trim().split("\n")).toEqual([
      file("ctxd-client"),
      file("ctxd-darwin-arm64"),
      file("ctxd-linux-arm64"),
      file("ctxd-linux-x64"),
      `@ctxd/windows-x64@${version} is already published.`,
      file("ctxd"),
    ]);
  });
});
