import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { arm64Missing, bareArm64Root, emulated } from "../support/arm64.ts";
import { stopServer } from "../support/bridge.ts";
import { buildTarget } from "../support/executable.ts";
import { RIGHT, useOnce } from "../support/main-job.ts";

/**
 * Tests the executable for 64-bit ARM with an emulator, in a root with only the C library. It takes minutes, so it
 * needs LONG=1. `CTXD_TEST_TARGET=linux-arm64 bun test test/executable/executable.test.ts test/mcp/executable.test.ts`
 * runs the tests of this machine's executable.
 */
const missing = process.env.LONG ? arm64Missing : "LONG is not set";
if (missing) console.log(`The executable for 64-bit ARM is not run: ${missing}.`);
const TIMEOUT = 30 * 60_000;
setDefaultTimeout(TIMEOUT);

const FACT = "My daughter is allergic to peanuts.";
const QUESTION = "what food must the child avoid";

describe.skipIf(missing !== null)("the executable for 64-bit ARM", () => {
  let root: ReturnType<typeof bareArm64Root>;
  const env = { HOME: "/tmp/home", PATH: process.env.PATH ?? "", CTXD_PORT: "0" };
  const wrap = (command: string[]) => emulated(command, root.path);

  beforeAll(async () => {
    root = bareArm64Root(await buildTarget("linux-arm64"));
    mkdirSync(join(root.path, "tmp", "home"));
  });
  afterAll(() => root?.[Symbol.dispose]());

  async function run(...args: string[]) {
    const child = Bun.spawn(wrap(["/ctxd", ...args]), {
      env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { stdout, stderr, exitCode: await child.exited };
  }

  test("creates an account, saves, searches by meaning, and stops on a signal", async () => {
    const place = { cwd: root.path, executable: "/ctxd", env, wrap };
    expect(await useOnce(place)).toEqual(RIGHT);
  });

  test("backs up and restores its data", async () => {
    expect(await run("backup", "/tmp/copy")).toMatchObject({ exitCode: 0 });
    const folder = ["--data-dir", "/tmp/restored"];
    expect(await run("restore", "/tmp/copy", ...folder)).toMatchObject({ exitCode: 0 });
    expect(await run("user", "list", ...folder)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("you@example.com"),
    });
    expect(await run("export", "/tmp/memories.jsonl", ...folder)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(root.path, "tmp", "memories.jsonl"), "utf8")).toContain(FACT);
  });

  test("serves an agent, and starts the server itself", async () => {
    const [command = "", ...args] = wrap(["/ctxd", "mcp", "--data-dir", "/tmp/agents"]);
    const client = new Client({ name: "ctxd-test", version: "1.0.0" });
    // An emulated start is many times slower.
    const patience = { timeout: TIMEOUT };
    const call = (name: string, args: Record<string, unknown>) =>
      client.callTool({ name, arguments: args }, patience);
    try {
      await client.connect(new StdioClientTransport({ command, args, env }), patience);
      const { structuredContent } = await call("save_memory", { content: FACT });
      expect(structuredContent).toMatchObject({ id: expect.stringMatching(/^mem_/) });
      expect((await call("search_memories", { query: QUESTION })).content).toMatchObject([
        { text: expect.stringContaining(FACT) },
      ]);
      await client.close();
    } finally {
      await stopServer(join(root.path, "tmp", "agents"));
    }
  });

  test("has no problems in ctxd doctor", async () => {
    const { stdout, stderr, exitCode } = await run("doctor");
    expect({ stdout, stderr, exitCode }).toMatchObject({ stderr: "", exitCode: 0 });
    expect(stdout).toMatch(/^ok +libraries/m);
    expect(stdout).toMatch(/^ok +embedding/m);
  });
});
