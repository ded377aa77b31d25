import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildTarget } from "../support/executable.ts";
import { addressOf } from "../support/main-job.ts";
import { until } from "../support/until.ts";

/**
 * Tests the executable for Windows with Wine 9 or later; earlier versions lack a library that Bun needs. It takes
 * minutes, so it needs LONG=1. `WINE` names the program, if it is not in the PATH. Wine has no Unix sockets, so
 * local agents are not tested here.
 */
const WINE = process.env.WINE ?? Bun.which("wine64") ?? Bun.which("wine") ?? "";
const missing = process.env.LONG ? wineMissing() : "LONG is not set";
if (missing) console.log(`The executable for Windows is not run: ${missing}.`);
setDefaultTimeout(10 * 60_000);

const FACT = "My daughter is allergic to peanuts.";

function wineMissing(): string | null {
  if (WINE === "") return "there is no Wine";
  const { stdout } = Bun.spawnSync([WINE, "--version"]);
  const version = Number(/^wine-(\d+)/.exec(stdout.toString())?.[1] ?? 0);
  return version >= 9 ? null : `${WINE} is of version ${version || "unknown"}, and not 9 or later`;
}

describe.skipIf(missing !== null)("the executable for Windows", () => {
  let executable: string;
  const folder = join(tmpdir(), `ctxd-test-wine-${process.pid}`);
  const prefix = join(folder, "prefix");
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    XDG_RUNTIME_DIR: folder,
    WINEPREFIX: prefix,
    WINEDEBUG: "-all",
    CTXD_PORT: "0",
  };
  const drive = (path: string) => join(prefix, "drive_c", path);
  const data = () => {
    const user = readdirSync(drive("users")).find((name) => name !== "Public") ?? "";
    return drive(join("users", user, "AppData", "Local", "ctxd"));
  };

  beforeAll(async () => {
    executable = await buildTarget("windows-x64");
    mkdirSync(prefix, { recursive: true });
    await Bun.spawn([WINE, "wineboot", "-i"], { env, cwd: folder, stdout: "ignore" }).exited;
  });
  afterAll(async () => {
    await Bun.spawn([WINE, "wineboot", "-k"], { env, cwd: folder, stdout: "ignore" }).exited;
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command with a file as its input, because Wine can't read Unix pipes. */
  async function run(args: readonly string[], input = "") {
    const file = join(folder, "input");
    writeFileSync(file, input);
    const child = Bun.spawn([WINE, executable, ...args], {
      env,
      cwd: folder,
      stdin: Bun.file(file),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { stdout: stdout.trim(), stderr, exitCode: await child.exited };
  }

  test("creates an account, saves over HTTP, and finds by meaning", async () => {
    const added = await run(["user", "add", "you@example.com"], "correct horse battery\r\n");
    expect(added).toMatchObject({ exitCode: 0 });
    const { stdout: key } = await run([
      "key",
      ...["create", "--user", "you@example.com", "--name", "test"],
    ]);
    const server = Bun.spawn([WINE, executable, "serve"], {
      env,
      cwd: folder,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    try {
      const base = await addressOf(server.stderr);
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      for (const content of [FACT, "The router stands behind the bookshelf."]) {
        const body = JSON.stringify({ content });
        const saved = await fetch(`${base}/api/memories`, { method: "POST", headers, body });
        expect(saved.status).toBe(201);
      }
      const query = new URLSearchParams({ q: "what food must the child avoid" });
      const found = await fetch(`${base}/api/memories/search?${query}`, { headers });
      expect(await found.json()).toMatchObject({ memories: [{ content: FACT }, {}] });
      await until("the memories are in the files of LanceDB", () =>
        readdirSync(data(), { recursive: true, encoding: "utf8" }).some((name) =>
          name.endsWith(".manifest"),
        ),
      );
    } finally {
      server.kill("SIGKILL");
      await server.exited;
    }
  });

  test("stores its data in Windows' folder for programs", () => {
    expect(readFileSync(join(data(), "ctxd.db")).toString("latin1")).toStartWith("SQLite format 3");
  });

  test("backs up its data, and restores it completely", async () => {
    expect(await run(["backup", "C:\\copy"])).toMatchObject({ exitCode: 0 });
    const manifest = readFileSync(drive("copy/backup.json"), "utf8");
    expect(manifest).not.toContain("\\\\");
    const there = ["--data-dir", "C:\\restored"];
    expect(await run(["restore", "C:\\copy", ...there])).toMatchObject({ exitCode: 0 });
    const { stdout, exitCode } = await run(["doctor", ...there]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^ok +libraries/m);
    expect(stdout).toMatch(/^ok +embedding: a text became a vector/m);
    expect(stdout).toMatch(/^ok +table acc_\w+: 2 memories/m);
  });

  test("describes its task in Windows' encoding", async () => {
    // Its start is not tested, because Wine's Task Scheduler is incomplete.
    const { stderr } = await run(["service", "install"]);
    expect(stderr).toContain("AppData\\Roaming\\ctxd\\service.xml");
    const folder = join(data(), "..", "..", "Roaming", "ctxd");
    const task = readFileSync(join(folder, "service.xml")).toString("utf16le");
    expect(task).toStartWith('\uFEFF<?xml version="1.0" encoding="UTF-16"?>');
    expect(task).toContain("<Arguments>service run C:\\users\\");
    expect(JSON.parse(readFileSync(join(folder, "service.json"), "utf8"))).toMatchObject({
      settings: { CTXD_PORT: "0" },
    });
    expect(await run(["service", "uninstall"])).toMatchObject({ exitCode: 0 });
    expect(readdirSync(folder)).toEqual([]);
  });
});
