import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { devDependencies } from "../../package.json" with { type: "json" };
import { findClient } from "../../src/connect/clients.ts";
import { connectProgram } from "../support/mcp.ts";
import { until } from "../support/until.ts";
import { createBrowserProgram } from "./support/browser-program.ts";
import { type OAuthServer, startOAuthServer } from "./support/oauth-server.ts";
import { formTo } from "./support/person.ts";

const HOUR = 3_600_000;

const MCP_REMOTE = join(import.meta.dir, "..", "..", "node_modules/mcp-remote/dist/proxy.js");

let server: OAuthServer;
let folder: string;
let browser: ReturnType<typeof createBrowserProgram>;

beforeAll(async () => {
  server = await startOAuthServer();
  folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  browser = createBrowserProgram(join(folder, "bin"));
});
afterAll(async () => {
  await browser.close();
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
      ...browser.env,
    },
  };
}

test("mcp-remote signs in through the browser, uses and renews its tokens, and signs in again after a revocation", async () => {
  const { person, accountId } = await server.signedIn();
  const allow = async () => {
    const page = await person.visit(await browser.next());
    const { location } = await person.submit(page, { decision: "allow" });
    // mcp-remote opens the page before it listens for the answer.
    const answer = await until("it listens", () => fetch(location ?? "").catch(() => null));
    expect(answer.status).toBe(200);
  };
  const connecting = connectProgram("v1", program(null));
  await allow();
  {
    await using agent = await connecting;
    expect(await agent.tools()).toHaveLength(7);
    await agent.call("save_memory", { content: "Sam is allergic to peanuts" });
  }
  await using agent = await connectProgram("v2 old", program(null));
  const list = async () => (await agent.call("list_memories")).text;
  expect(await list()).toContain("Sam is allergic to peanuts");
  server.clock.advance(HOUR);
  expect(await list()).toContain("Sam is allergic to peanuts");
  expect(browser.opened).toHaveLength(1);
  const { memories } = await (await server.client(accountId)).list();
  expect(memories).toHaveLength(1);

  const [grant] = await server.oauth.grants.list(accountId);
  await server.sessions.prove(person.jar.get("ctxd-session") ?? "");
  const path = `/agents/${grant?.id}/revoke`;
  await person.submit(formTo(await person.visit(path), path));
  const listing = list();
  await allow();
  expect(await listing).toContain("Sam is allergic to peanuts");
});

test("mcp-remote sends a key, and the name of the agent", async () => {
  const account = await server.account();
  const before = browser.opened.length;
  await using agent = await connectProgram("v1", program(account.key));
  await agent.call("save_memory", { content: "Sam likes pears" });
  expect(browser.opened).toHaveLength(before);
  const { memories } = await account.list();
  expect(memories).toMatchObject([{ content: "Sam likes pears", agent_id: "claude-desktop" }]);
});
