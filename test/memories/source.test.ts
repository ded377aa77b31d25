import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalSocket } from "../../src/local/local-socket.ts";
import type { Memory } from "../../src/memories/model/memory.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";
import { createClient } from "../support/client.ts";
import { connectHttp } from "../support/mcp.ts";
import { importLines, newMemoryId } from "../support/transfer.ts";

const server = await startOAuthServer();
afterAll(server.close);

const mcp = (key: string) =>
  connectHttp("v2 new", server.origin, { authorization: `Bearer ${key}` });

test("a key's memories are listed, found, exported and deleted by its id", async () => {
  const ada = await server.account();
  const misled = await server.client(ada.accountId);
  await ada.save({ content: "The bees sleep in winter." });
  await misled.save({ content: "The bees obey Evil." });
  const [{ id: source } = { id: "" }] = (await server.keys.list(ada.accountId)).slice(-1);
  const contents = (memories: readonly { content: string }[]) =>
    memories.map(({ content }) => content);
  const written = ["The bees obey Evil."];
  expect(contents((await ada.list({ source })).memories)).toEqual(written);
  expect(contents(await ada.search("bees", { source }))).toEqual(written);
  const headers = { authorization: `Bearer ${ada.key}` };
  const path = `${server.origin}/api/memories/export?source=${source}`;
  const lines = (await (await fetch(path, { headers })).text()).trim().split("\n");
  expect(contents(lines.map((line) => JSON.parse(line)))).toEqual(written);
  expect(await ada.removeMatching({ source: "key_of_nobody" })).toBe(0);
  expect(await ada.removeMatching({ source })).toBe(1);
  expect(contents((await ada.list()).memories)).toEqual(["The bees sleep in winter."]);
});

test("changing the text changes the source, changing the tags does not", async () => {
  const ada = await server.account();
  const other = await server.client(ada.accountId);
  const { id, source } = await ada.save({ content: "The bees sleep." });
  expect((await other.update(id, { tags: ["bees"] })).source).toEqual(source);
  expect((await other.update(id, { content: "The bees cluster." })).source).not.toEqual(source);
});

describe("source", () => {
  const idOf = async (accountId: string) => (await server.keys.list(accountId))[0]?.id ?? "";

  test("of a key is its name and id, over every interface", async () => {
    const ada = await server.account();
    const key = { by: "test", id: await idOf(ada.accountId) };
    expect((await ada.save({ content: "x" })).source).toEqual({ via: "api", ...key });
    const [one] = await ada.saveAll([{ content: "x" }]);
    expect(one?.source).toEqual({ via: "api", ...key });
    await using agent = await mcp(ada.key);
    const { data } = await agent.call("save_memory", { content: "y" });
    expect((await ada.get(String(data.id))).source).toEqual({ via: "mcp", ...key });
    const claimed = { via: "dashboard", by: "the owner", id: "acc_1" };
    const line = { id: newMemoryId(), content: "x", source: claimed };
    await importLines(ada, line);
    expect((await ada.get(line.id)).source).toEqual({ via: "import", ...key });
  });

  test("of an app is its name and the grant's id", async () => {
    const { accountId, tokens } = await server.connect();
    const app = createClient(server.origin, tokens.access_token);
    const [grant] = await server.oauth.grants.list(accountId);
    const credential = { by: "Example", id: grant?.id ?? "" };
    expect((await app.save({ content: "x" })).source).toEqual({ via: "api", ...credential });
    await using agent = await mcp(tokens.access_token);
    const { data } = await agent.call("save_memory", { content: "y" });
    expect((await app.get(String(data.id))).source).toEqual({ via: "mcp", ...credential });
  });

  test("of a person in the dashboard is the account", async () => {
    const { accountId, person } = await server.signedIn();
    const ada = await server.client(accountId);
    const by = (await server.accounts.find(accountId))?.email ?? "";
    const form = formTo(await person.visit("/memories/new"), "/memories");
    const { url } = await person.submit(form, { content: "by hand" });
    const id = url.split("/").at(-1) ?? "";
    expect((await ada.get(id)).source).toEqual({ via: "dashboard", by, id: accountId });

    const cookie = `ctxd-session=${person.jar.get("ctxd-session")}`;
    const headers = { cookie, origin: server.origin, "content-type": "application/json" };
    const body = JSON.stringify({ content: "by a page of ours" });
    const answer = await fetch(`${server.origin}/api/memories`, { method: "POST", body, headers });
    const { source } = (await answer.json()) as Memory;
    expect(source).toEqual({ via: "dashboard", by, id: accountId });
  });

  test("of the local socket is `local`", async () => {
    const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
    const socket = createLocalSocket({ ownerId: async () => "acc_1" });
    const open = socket.listen(folder, {
      version: "1",
      answer: async (request) => Response.json(socket.principalOf(request)),
      openDashboard: async () => ({ origin: "" }) as never,
    });
    try {
      const answer = await fetch("http://localhost/api/x", { unix: join(folder, "ctxd.sock") });
      const credential = { by: "local", id: "local" };
      expect(await answer.json()).toMatchObject({ via: "local", credential });
    } finally {
      await open.close();
      rmSync(folder, { recursive: true });
    }
  });

  test("changes with the content, and not with other fields", async () => {
    const ada = await server.account();
    const { id, source: first } = await ada.save({ content: "before", tags: ["a"] });
    const { key, record } = await server.keys.create(ada.accountId, {
      name: "phone",
      scopes: ["memories:read", "memories:write"],
      expiresAt: null,
    });
    const phone = createClient(server.origin, key);
    const tagged = await phone.update(id, { content: "before", tags: ["b"], pinned: true });
    expect(tagged.source).toEqual(first);
    const changed = await phone.update(id, { content: "after" });
    expect(changed.source).toEqual({ via: "api", by: "phone", id: record.id });

    const { source: _, ...rest } = changed;
    const later = "2099-01-01T00:00:00.000Z";
    await importLines(ada, { ...rest, tags: ["c"], updated_at: later });
    expect(await ada.get(id)).toMatchObject({ tags: ["c"], source: changed.source });
    await importLines(ada, { ...rest, content: "x", updated_at: later.replace("2099", "2100") });
    expect((await ada.get(id)).source).toEqual({ via: "import", by: "test", id: first?.id ?? "" });
  });

  test("keeps the name of a revoked key", async () => {
    const ada = await server.account();
    const { id, source } = await ada.save({ content: "x" });
    await server.keys.revoke(ada.accountId, await idOf(ada.accountId));
    expect((await (await server.client(ada.accountId)).get(id)).source).toEqual(source);
  });
});
