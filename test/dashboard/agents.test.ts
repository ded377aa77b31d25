import { afterAll, expect, test } from "bun:test";
import { KEPT_DAYS } from "../../src/activity/activity.ts";
import { firstDay } from "../../src/dashboard/activity/activity-view.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";
import { expectError } from "../support/errors.ts";
import { connectHttp } from "../support/mcp.ts";
import { outcomeOf } from "../support/outcome.ts";

const server = await startOAuthServer();
afterAll(server.close);

test("a connected app is listed, and disconnecting it ends its tokens at once", async () => {
  const { accountId, person, tokens } = await server.connect();
  expect(await server.use(tokens.access_token)).toBe(200);
  const page = await person.visit("/agents");
  expect(page.text).toContain("Example");
  expect(page.text).toContain("app.example.com");
  expect(page.text).toContain("read, write");
  const [grant] = await server.oauth.grants.list(accountId);
  const path = `/agents/${grant?.id}/revoke`;
  const question = await person.visit(path);
  expect(question.text).toContain("The memories that it saved stay.");
  const done = await person.submit(formTo(question, path));
  expect(done.text).toContain("“Example” is disconnected.");
  expect(done.text).toContain("Apps disconnected in the last 30 days (1)");
  expect(await server.use(tokens.access_token)).toBe(401);
  expect((await person.visit(path)).status).toBe(404);
});

test("apps of another account can't be seen or disconnected", async () => {
  const { accountId, tokens } = await server.connect();
  const [grant] = await server.oauth.grants.list(accountId);
  const { person } = await server.signedIn();
  const page = await person.visit("/agents");
  expect(page.text).not.toContain("Example");
  const path = `/agents/${grant?.id}/revoke`;
  expect((await person.visit(path)).status).toBe(404);
  const forged = { ...page, forms: page.forms.map((form) => ({ ...form, action: path })) };
  expect((await person.submit(forged)).status).toBe(404);
  expect(await server.use(tokens.access_token)).toBe(200);
});

/** An account with the key of a laptop, and its agents by the names that they give themselves. */
async function withLaptop() {
  const { accountId, person } = await server.signedIn();
  const { key, record } = await server.keys.create(accountId, {
    ...{ name: "laptop", scopes: ["memories:read", "memories:write"], expiresAt: null },
  });
  const authorization = `Bearer ${key}`;
  const agent = (name: string) =>
    connectHttp("v1", server.origin, { authorization, "ctxd-agent": name });
  return { accountId, person, id: record.id, authorization, agent };
}

/** The texts of the cells of the row with a text. */
function cellsOf(html: string, text: string): string[] {
  const row = [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].find(([each]) => each.includes(text)) ?? [];
  return [...(row[1] ?? "").matchAll(/<td data-label[^>]*>(.*?)<\/td>/gs)].map(([, cell = ""]) =>
    cell.replaceAll(/<[^>]*>/g, ""),
  );
}

test("each agent of a key has its own numbers, and what one of them wrote can be removed alone", async () => {
  const { accountId, person, id, agent } = await withLaptop();
  await using codex = await agent("codex");
  await using other = await agent("own <b>agent");
  await codex.call("save_memory", { content: "Saved by Codex" });
  await other.call("save_memory", { content: "The harbour is in Porto" });
  await other.call("save_memory", { content: "The harbour has two piers" });
  await other.call("search_memories", { query: "harbour" });
  await server.activity.flush();
  const page = await person.visit("/agents");
  expect(cellsOf(page.text, "own &lt;b&gt;agent").slice(1)).toEqual(["2", "–", "1", "2"]);
  expect(cellsOf(page.text, "Codex").slice(1)).toEqual(["1", "–", "–", "–"]);
  expect(page.text).toContain("connect codex --recall --capture");
  expect(page.text).not.toContain("own <b>");

  const path = `/agents/${id}/written`;
  const question = await person.visit(`${path}?agent=own+%3Cb%3Eagent`);
  expect(question.text).toContain("2 memories that");
  await person.submit(formTo(question, path));
  const own = await server.client(accountId);
  expect((await own.list()).memories.map(({ content }) => content)).toEqual(["Saved by Codex"]);
  expect((await person.visit(path)).text).toContain("1 memory that");
});

test("a key that nobody has used is listed too, and the former address leads to the page", async () => {
  const { person } = await withLaptop();
  const page = await person.visit("/agents");
  expect(cellsOf(page.text, ">laptop<")).toEqual(["never", "–", "–", "–", "–"]);
  const cookie = [...person.jar].map(([name, value]) => `${name}=${value}`).join("; ");
  const { status, headers } = await fetch(`${server.origin}/apps`, {
    ...{ headers: { cookie }, redirect: "manual" },
  });
  expect([status, headers.get("location")]).toEqual([308, "/agents"]);
});

test("a paused key is refused over the API and MCP until it is resumed", async () => {
  const { accountId, person, id, authorization, agent } = await withLaptop();
  await using codex = await agent("codex");
  const use = async () => {
    const response = await fetch(`${server.origin}/api/memories`, { headers: { authorization } });
    return { status: response.status, body: await response.json() };
  };
  const path = `/agents/${id}/pause`;
  const done = await person.submit(formTo(await person.visit(path), path));
  expect(done.text).toContain("“laptop” is paused.");
  expectError(await use(), { status: 403, code: "forbidden" });
  expect((await use()).body).toMatchObject({
    error: { message: expect.stringContaining("paused") },
  });
  expect(await outcomeOf(codex.call("save_memory", { content: "Not now" }))).toThrow("is paused");
  expect((await person.visit("/keys")).text).toContain("Paused");

  const stranger = await server.signedIn();
  expect((await stranger.person.visit(path)).status).toBe(404);
  const resume = formTo(await person.visit("/agents"), `/agents/${id}/resume`);
  const foreign = { ...resume, url: `${server.origin}/agents` };
  expect((await stranger.person.submit(foreign)).status).toBe(403);
  await person.submit(resume);
  expect((await use()).status).toBe(200);
  expect((await codex.call("save_memory", { content: "Now" })).isError).toBe(false);

  await server.securityLog.flush();
  const events = await server.securityLog.list(accountId, {}, { limit: 10 });
  expect(events.map(({ event }) => event).sort()).toEqual(["key_paused", "key_resumed"]);
});

test("a paused app is refused, and its tokens can still be renewed", async () => {
  const { accountId, clientId, person, tokens } = await server.connect();
  const [grant] = await server.oauth.grants.list(accountId);
  const path = `/agents/${grant?.id}/pause`;
  await person.submit(formTo(await person.visit(path), path));
  expect(await server.use(tokens.access_token)).toBe(403);
  const renewed = await server.renew(clientId, tokens.refresh_token);
  expect(renewed.status).toBe(200);
  const { access_token: next } = renewed.body as { access_token: string };
  expect(await server.use(next)).toBe(403);
  await person.submit(formTo(await person.visit("/agents"), `/agents/${grant?.id}/resume`));
  expect(await server.use(next)).toBe(200);
});

test("what a hook recalls and captures counts for its agent", async () => {
  const { accountId, person, authorization } = await withLaptop();
  const post = (path: string, body: object) =>
    fetch(`${server.origin}/api/memories/${path}`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", "ctxd-agent": "codex" },
      body: JSON.stringify(body),
    });
  const turns = [{ role: "user", content: "Where is the harbour?" }];
  expect((await post("capture", { agent: "codex", turns })).status).toBe(200);
  expect((await post("recall", { prompt: "harbour" })).status).toBe(200);
  await server.activity.flush();
  const actors = await server.activity.actors(accountId, firstDay(KEPT_DAYS, server.clock()));
  const did = actors.map(({ agent, kind }) => `${agent} ${kind}`).sort();
  expect(did).toEqual(["codex captured", "codex recalled"]);
  expect((await person.visit("/agents")).text).toContain("captures and recalls");
});
