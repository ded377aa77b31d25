/**
 * Runs the MCP Inspector's command line against the server and the local bridge: a part of
 * `bun run conformance`. It is fetched when this runs, being larger than it is often used.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fieldsOf } from "../../src/mcp/http-message.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { program, stopServer } from "../support/bridge.ts";

const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";
const EXECUTABLE = join(import.meta.dir, "..", "..", "dist", "ctxd");
/** What it says, the page's whole address in it. */
const PAGE = /(http\S+\/authorize\?\S+)\n/;
const ERAS = ["legacy", "auto", "modern"];

setDefaultTimeout(120_000);

/** Nothing of the person's own, but for what has been fetched before. */
const isolated = (home: string) => ({
  HOME: home,
  BROWSER: "true",
  BUN_INSTALL_CACHE_DIR: join(homedir(), ".bun", "install", "cache"),
});

let server: OAuthServer;
let home: string;

beforeAll(async () => {
  server = await startOAuthServer();
  home = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  expect(await inspect(["--help"])).toMatchObject({ exitCode: 0 });
});
afterAll(async () => {
  await stopServer(join(home, "data"));
  await server.close();
  rmSync(home, { recursive: true });
});

function start(args: string[], env: Record<string, string> = {}) {
  return Bun.spawn([process.execPath, "x", "--bun", INSPECTOR, "--cli", ...args], {
    env: { PATH: process.env.PATH ?? "", ...isolated(home), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function inspect(args: string[]) {
  const child = start(args);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { stdout, stderr, exitCode: await child.exited };
}

/** What a method of the protocol answers, after a check that the Inspector finds nothing wrong. */
async function call(target: string[], ...args: string[]) {
  const { stdout, stderr, exitCode } = await inspect([...target, "--method", ...args]);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return fieldsOf(JSON.parse(stdout));
}

const overHttp = (era: string, key: string) => [
  `${server.origin}/mcp`,
  ...["--transport", "http", "--header", `Authorization: Bearer ${key}`, "--protocol-era", era],
];

describe.each(ERAS)("over HTTP, era %s:", (era) => {
  test("tools are listed without complaint, and work", async () => {
    const { key } = await server.account();
    const target = overHttp(era, key);
    expect((await call(target, "tools/list", "--strict")).tools).toHaveLength(7);
    const content = "content=Sam is allergic to peanuts";
    await call(target, "tools/call", "--tool-name", "save_memory", "--tool-arg", content);
    const query = "query=is Sam allergic to peanuts?";
    const found = await call(
      target,
      "tools/call",
      "--tool-name",
      "search_memories",
      "--tool-arg",
      query,
    );
    expect(JSON.stringify(found.content)).toContain("Sam is allergic to peanuts");
    expect((await call(target, "resources/list")).resources).toHaveLength(4);
    expect((await call(target, "prompts/list")).prompts).toHaveLength(3);
  });

  test("a key that only reads gets the tools for that", async () => {
    const { key } = await server.account(["memories:read"]);
    const { tools } = await call(overHttp(era, key), "tools/list", "--strict");
    expect(tools).toHaveLength(4);
  });
});

test("it signs in: the page that it opens is answered by a person", async () => {
  const { person } = await server.signedIn();
  const child = start([`${server.origin}/mcp`, "--transport", "http", "--method", "tools/list"], {
    MCP_AUTO_OPEN_ENABLED: "true",
  });
  const output = child.stdout.text();
  let said = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stderr) {
    const before = said;
    said += decoder.decode(chunk, { stream: true });
    const [, url] = PAGE.exec(said) ?? [];
    if (!url || PAGE.test(before)) continue;
    const { location } = await person.submit(await person.visit(url), { decision: "allow" });
    await fetch(location ?? "");
  }
  expect(fieldsOf(JSON.parse(await output)).tools).toHaveLength(7);
  expect(await child.exited).toBe(0);
});

test.each(ERAS)("a local agent's bridge, era %s", async (era) => {
  const dataDir = join(home, "data");
  const { command, args, env } = program(dataDir, "mcp");
  const words = existsSync(EXECUTABLE)
    ? [EXECUTABLE, "mcp", "--data-dir", dataDir]
    : [command, ...args];
  const settings = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const { stdout, stderr, exitCode } = await inspect([
    ...settings,
    ...["--protocol-era", era, "--method", "tools/list", "--strict", "--"],
    ...words,
  ]);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(fieldsOf(JSON.parse(stdout)).tools).toHaveLength(7);
});
