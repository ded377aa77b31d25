import { afterAll, expect, test } from "bun:test";
import { KINDS } from "../../src/activity/action.ts";
import type { ActivityEvent } from "../../src/activity/activity-reports.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";
import { connectHttp } from "../support/mcp.ts";

const server = await startOAuthServer();
afterAll(server.close);

/** The account's actions since the last call, one event per kind. Several replicas may have written one each. */
function reader(accountId: string) {
  let last = 0;
  return async () => {
    await server.activity.flush();
    const all = await server.activity.list(accountId, { limit: 1_000 });
    const kinds = new Map<string, ActivityEvent>();
    for (const event of all.filter(({ id }) => id > last)) {
      const same = kinds.get(event.kind);
      const sum = (of: "times" | "memories") => event[of] + (same?.[of] ?? 0);
      kinds.set(event.kind, { ...event, times: sum("times"), memories: sum("memories") });
    }
    last = all[0]?.id ?? last;
    return [...kinds.values()].sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
  };
}

test("each successful request with a key is recorded once, failed ones are not", async () => {
  const client = await server.account();
  const done = reader(client.accountId);
  const memory = await client.save({ content: "Deploys on Friday", agent_id: "codex" });
  await client.search("when are deploys?");
  await client.update(memory.id, { importance: 0.9 });
  await client.remove(memory.id);
  expect(await done()).toMatchObject([
    { kind: "saved", source: "test", agent: null, memoryId: memory.id, memories: 1 },
    { kind: "changed", memoryId: memory.id },
    { kind: "deleted", memoryId: null, memories: 1 },
    { kind: "searched", source: "test", agent: null, memoryId: memory.id, query: null },
  ]);

  await client.saveAll([{ content: "one", tags: ["a"] }, { content: "two" }]);
  const line = JSON.stringify({ content: "three" });
  const headers = { "content-type": "application/x-ndjson" };
  await client.send("POST", "/memories/import?dry_run=true", { body: line, headers });
  await client.send("POST", "/memories/import", { body: line, headers });
  await client.send("POST", "/memories/move?tags=a", { json: { project: "atlas" } });
  await client.removeMatching({ tags: "a" });
  await client.removeMatching({ tags: "a" });
  await client.save({ content: "four" });
  await client.send("POST", "/memories", { json: { content: "four" } });
  await client.send("POST", "/memories", { json: { content: "" } });
  await client.send("DELETE", `/memories/${memory.id}`);
  const counted = (await done()).map(({ kind, times, memories }) => [kind, times, memories]);
  expect(counted).toEqual([
    ["saved", 2, 3],
    ["changed", 1, 1],
    ["deleted", 1, 1],
    ["imported", 1, 1],
  ]);
});

test("actions of agents are recorded with their names, searches too", async () => {
  const { accountId, key } = await server.account();
  const done = reader(accountId);
  const headers = { authorization: `Bearer ${key}`, "ctxd-agent": "claude-code" };
  const agent = await connectHttp("v2 new", server.origin, headers);
  await agent.call("save_memory", { content: "Prefers tabs over spaces" });
  await agent.call("search_memories", { query: "tabs or spaces?" });
  await agent.call("search_memories", { query: "xyzzy" });
  await agent.call("recall_context", { task: "format the code" });
  await agent.close();
  const events = await done();
  expect(events.map(({ agent }) => agent)).toEqual(Array(3).fill("claude-code"));
  expect(events).toMatchObject([
    { kind: "saved", times: 1 },
    { kind: "searched", times: 2 },
    { kind: "recalled", times: 1, memories: 1 },
  ]);
});

test("captures and recalls of hooks are recorded, each recall once", async () => {
  const client = await server.account();
  const done = reader(client.accountId);
  const turns = [{ role: "user", content: "The staging server is called Otter." }];
  const json = { agent: "codex", session_id: "s1", turns };
  await client.send("POST", "/memories/capture", { json });
  await client.send("POST", "/memories/capture", { json });
  await client.send("POST", "/memories/recall", { json: { prompt: "which server?" } });
  expect(await done()).toMatchObject([
    { kind: "captured", agent: "codex", times: 1, memories: 1, source: "test" },
    { kind: "recalled", agent: null, times: 1, source: "test" },
  ]);
});

test("actions in the dashboard are recorded as the person's", async () => {
  const { accountId, person } = await server.signedIn();
  const done = reader(accountId);
  const page = await person.visit("/memories/new");
  await person.submit(formTo(page, "/memories"), { content: "The cat is called Miro" });
  await person.visit("/memories");
  await person.visit("/memories?q=cat");
  expect(await done()).toMatchObject([
    { kind: "saved", sourceId: accountId, agent: null },
    { kind: "searched", sourceId: accountId, agent: null },
  ]);
});
