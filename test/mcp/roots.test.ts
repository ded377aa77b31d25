import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fieldsOf } from "../../src/mcp/http-message.ts";
import { startBridge } from "../support/bridge.ts";
import { temporaryHome } from "../support/temporary-home.ts";

const { home: root, dataDir } = temporaryHome();

/** A folder of a repository, as the client names it. */
function repository(name: string) {
  mkdirSync(join(root, name, ".git"), { recursive: true });
  writeFileSync(join(root, name, ".git", "HEAD"), "ref: refs/heads/main\n");
  return { uri: pathToFileURL(join(root, name)).href, name };
}

/** An agent whose client has said hello. */
async function begin(capabilities: object) {
  const agent = startBridge(dataDir);
  const clientInfo = { name: "editor", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
  agent.send({ id: 0, method: "initialize", params });
  expect(await agent.next()).toMatchObject({ id: 0, result: { protocolVersion: "2025-11-25" } });
  agent.send({ method: "notifications/initialized" });
  return agent;
}

type Agent = Awaited<ReturnType<typeof begin>>;

/** Answers the question which folders are open. */
async function answerRoots(agent: Agent, roots: object[]) {
  const { id, method } = await agent.next();
  expect(method).toBe("roots/list");
  agent.send({ id, result: { roots } });
}

/** What is told of a memory that is saved now. */
async function saved(agent: Agent, content: string): Promise<string> {
  const { result } = await agent.call("save_memory", { content }, content);
  const { id } = fieldsOf(fieldsOf(result).structuredContent);
  const answer = await agent.call("get_memory", { id }, `get ${content}`);
  return JSON.stringify(fieldsOf(answer.result).content);
}

test("an editor is asked which folder is open, and once more when that changes", async () => {
  const agent = await begin({ roots: { listChanged: true } });
  // A call that comes before the answer waits for it.
  agent.send({
    id: "early",
    method: "tools/call",
    params: { name: "save_memory", arguments: { content: "Atlas is blue" } },
  });
  await answerRoots(agent, [repository("atlas")]);
  expect(await agent.next()).toMatchObject({ id: "early" });
  expect(await saved(agent, "Atlas is round")).toContain("project: atlas");

  agent.send({ method: "notifications/roots/list_changed" });
  await answerRoots(agent, [{ uri: "file:///nonexistent" }, repository("boreas")]);
  expect(await saved(agent, "Boreas is cold")).toContain("project: boreas");
  const { result } = await agent.call("search_memories", { query: "what is blue?" });
  expect(JSON.stringify(result)).not.toContain("Atlas");
  expect(await agent.end()).toBe(0);
});

test("a client that has no folders, or that gives no answer of use, is served as before", async () => {
  const silent = await begin({});
  expect(await silent.call("list_memories", {}, "a")).toMatchObject({ id: "a" });
  await silent.end();

  const strange = await begin({ roots: {} });
  const { id } = await strange.next();
  strange.send({ id, error: { code: -32_601, message: "no such method" } });
  expect(await strange.call("list_memories", {}, "b")).toMatchObject({ id: "b" });
  await strange.end();

  const elsewhere = await begin({ roots: {} });
  await answerRoots(elsewhere, [{ uri: "https://example.com/x" }, { uri: 5 }, {}]);
  expect(await elsewhere.call("list_memories", {}, "c")).toMatchObject({ id: "c" });
  await elsewhere.end();
});

test("a client that never answers is not waited for long", async () => {
  const agent = await begin({ roots: {} });
  expect(await agent.next()).toMatchObject({ method: "roots/list" });
  expect(await agent.call("list_memories", {}, "a")).toMatchObject({ id: "a" });
  await agent.end();
});
