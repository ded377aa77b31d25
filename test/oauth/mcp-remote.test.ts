import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { devDependencies } from "../../package.json" with { type: "json" };
import { findClient } from "../../src/connect/clients.ts";
import { connectProgram } from "../support/mcp.ts";
import { type OAuthServer, startOAuthServer } from "./support/oauth-server.ts";

const MCP_REMOTE = join(import.meta.dir, "..", "..", "node_modules/mcp-remote/dist/proxy.js");

let server: OAuthServer;
let folder: string;
/** Pages that mcp-remote opens in the stand-in for a browser. */
let opened: string[];
let nextPage: PromiseWithResolvers<string>;
let browser: Bun.Server<undefined>;

beforeAll(async () => {
  server = await startOAuthServer();
  folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  opened = [];
  nextPage = Promise.withResolvers();
  browser = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const page = await request.text();
      opened.push(page);
      nextPage.resolve(page);
      return new Response();
    },
  });
  const send = `await fetch("${browser.url}", { method: "POST", body: process.argv.at(-1) })`;
  writeFileSync(join(folder, "browser"), `#!${process.execPath}\n${send};\n`, { mode: 0o755 });
});
afterAll(async () => {
  await browser.stop(true);
  await server.close();
  rmSync(folder, { recursive: true });
});

/** mcp-remote as Claude Desktop starts it, by what `ctxd connect` writes, but not by npx. */
function program(key: string | null) {
  const client = findClient("claude-desktop");
  const entry = client?.remote({ url: `${server.origin}/mcp`, key });
  const [yes, name, ...args] = (entry?.args ?? []) as string[];
  expect([entry?.command, yes, name]).toEqual([
    "npx",
    "-y",
    `mcp-remote@${devDependencies["mcp-remote"]}`,
  ]);
  return {
    command: process.execPath,
    args: [MCP_REMOTE, ...args],
    env: {
      ...(entry?.env as Record<string, string>),
      HOME: folder,
      MCP_REMOTE_CONFIG_DIR: folder,
      PATH: process.env.PATH ?? "",
      BROWSER: join(folder, "browser"),
    },
  };
}

test("mcp-remote signs in through the browser, and uses its tokens the next time", async () => {
  const connecting = connectProgram("v1", program(null));
  const { person, accountId } = await server.signedIn();
  const page = await person.visit(await nextPage.promise);
  const { location } = await person.submit(page, { decision: "allow" });
  expect((await fetch(location ?? "")).status).toBe(200);
  {
    await using agent = await connecting;
    expect(await agent.tools()).toHaveLength(7);
    await agent.call("save_memory", { content: "Sam is allergic to peanuts" });
  }
  await using again = await connectProgram("v2 old", program(null));
  expect((await again.call("list_memories")).text).toContain("Sam is allergic to peanuts");
  expect(opened).toHaveLength(1);
  const { memories } = await (await server.client(accountId)).list();
  expect(memories).toHaveLength(1);
}, 60_000);

test("mcp-remote sends a key, and the name of the agent", async () => {
  const account = await server.account();
  const before = opened.length;
  await using agent = await connectProgram("v1", program(account.key));
  await agent.call("save_memory", { content: "Sam likes pears" });
  expect(opened).toHaveLength(before);
  const { memories } = await account.list();
  expect(memories).toMatchObject([{ content: "Sam likes pears", agent_id: "claude-desktop" }]);
}, 60_000);
