import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUIDv7 } from "bun";
import { createLocalSocket } from "../../src/mcp/local-socket.ts";
import type { ImportReport, Memory } from "../../src/memories/memory.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";
import { type Client, createClient } from "../support/client.ts";
import { expectError, expectInvalid } from "../support/errors.ts";
import { connectHttp } from "../support/mcp.ts";
import { named } from "../support/named.ts";

const server = await startOAuthServer();
afterAll(server.close);
/** An account of which every request is refused: it stays empty. */
const refused = await server.account();

const DAY = 86_400_000;
const OLD = "mem_0197f2c4e0b47c3a9a1d5b8e2f60c711";
const at = (days: number) => new Date(server.clock() + days * DAY).toISOString();
const FIELDS = { project: "atlas", pinned: true, expires_at: at(30) };
/** As they may come from elsewhere, where links may lead nowhere. */
const IMPORTED = { ...FIELDS, supersedes: OLD };
const NONE = { project: null, pinned: false, supersedes: null, expires_at: null };
const NDJSON = { "content-type": "application/x-ndjson" };

const importInto = async ({ send }: Client, ...lines: object[]) => {
  const body = lines.map((line) => JSON.stringify(line)).join("\n");
  const answer = await send("POST", "/memories/import", { body, headers: NDJSON });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as ImportReport;
};
const exportOf = async ({ key }: Client): Promise<Memory[]> => {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${server.origin}/api/memories/export`, { headers });
  const lines = (await response.text()).trim().split("\n");
  return lines.map((line) => JSON.parse(line));
};
const newId = () => `mem_${randomUUIDv7("hex").replaceAll("-", "")}`;
const mcp = (key: string) =>
  connectHttp("v2 new", server.origin, { authorization: `Bearer ${key}` });

describe("over HTTP", () => {
  test("a memory has none of the fields unless it is saved with them", async () => {
    const ada = await server.account();
    expect(await ada.save({ content: "x" })).toMatchObject(NONE);
    expect(await ada.save({ content: "y", project: null, supersedes: null })).toMatchObject(NONE);
  });

  test("they are kept, and shown by every answer", async () => {
    const ada = await server.account();
    const { id: supersedes } = await ada.save({ content: "the wasps" });
    const all = { ...FIELDS, supersedes };
    const saved = await ada.save({ content: "the bees", ...all });
    expect(saved).toMatchObject(all);
    expect(await ada.get(saved.id)).toEqual(saved);
    expect((await ada.list()).memories).toEqual([saved]);
    expect(await ada.search("bees")).toEqual([expect.objectContaining(all)]);
    const next = { ...FIELDS, supersedes: saved.id };
    const batch = await ada.saveAll([{ content: "x", ...next }, { content: "y" }]);
    expect(batch).toMatchObject([next, NONE]);
  });

  test.each<Record<string, unknown>>([
    { project: "borealis" },
    { project: null },
    { pinned: false },
    { expires_at: at(60) },
    { expires_at: null },
    { content: "other" },
  ])("an update with %j changes that and nothing else, and the ETag", async (changes) => {
    const ada = await server.account();
    const saved = await ada.save({ content: "before", ...FIELDS });
    const etag = (await ada.send("GET", `/memories/${saved.id}`)).headers.get("etag") ?? "";
    const updated = await ada.update(saved.id, changes, { "if-match": etag });
    expect<unknown>(updated).toEqual({ ...saved, ...changes });
    expect(await ada.get(saved.id)).toEqual(updated);
    const late = { json: changes, headers: { "if-match": etag } };
    expect(await ada.send("PUT", `/memories/${saved.id}`, late)).toMatchObject({ status: 412 });
  });

  test("a time may be given as a date, or with another offset", async () => {
    const ada = await server.account();
    const { expires_at } = await ada.save({ content: "x", expires_at: "2099-12-31" });
    expect(expires_at).toBe("2099-12-31T00:00:00.000Z");
    const moved = await ada.save({ content: "y", expires_at: "2099-12-31T01:00:00+01:00" });
    expect(moved.expires_at).toBe(expires_at);
  });

  const WRONG: [string, Record<string, unknown>][] = [
    ["/project", { project: "" }],
    ["/project", { project: "p".repeat(129) }],
    ["/project", { project: 1 }],
    ["/pinned", { pinned: "true" }],
    ["/pinned", { pinned: null }],
    ["/expires_at", { expires_at: "tomorrow" }],
    ["/expires_at", { expires_at: "2099-02-30" }],
    ["/expires_at", { expires_at: at(-1) }],
    ["/expires_at", { expires_at: at(0) }],
  ];

  test.each(
    (
      [
        ...WRONG,
        ["/supersedes", { supersedes: "mem_1" }],
        ["/supersedes", { supersedes: OLD.toUpperCase() }],
        ["", { source: { via: "api", by: "someone else", id: "key_1" } }],
        ["", { source: null }],
        ["", { superseded_by: OLD }],
      ] satisfies typeof WRONG
    ).map(named),
  )("refused at %j on saving: %s", async (path, _, fields) => {
    const json = { content: "x", ...fields };
    expectInvalid(await refused.send("POST", "/memories", { json }), path);
    const memories = [{ content: "x" }, json];
    const batch = await refused.send("POST", "/memories/batch", { json: { memories } });
    expectInvalid(batch, `/memories/1${path}`);
    expect((await refused.list()).memories).toEqual([]);
  });

  test.each(
    (
      [
        ...WRONG,
        ["", { supersedes: OLD }],
        ["", { source: { via: "api", by: "someone else", id: "key_1" } }],
      ] satisfies typeof WRONG
    ).map(named),
  )("refused at %j on changing: %s", async (path, _, fields) => {
    const ada = await server.account();
    const saved = await ada.save({ content: "x" });
    expectInvalid(await ada.send("PUT", `/memories/${saved.id}`, { json: fields }), path);
    expect(await ada.get(saved.id)).toEqual(saved);
  });

  test("a request that is sent again is told that what it made has expired", async () => {
    await using own = await startOAuthServer();
    const ada = await own.account();
    const expires_at = new Date(own.clock() + 1_000).toISOString();
    const key = { "idempotency-key": "a" };
    const saved = await ada.save({ content: "x", expires_at }, key);
    expect(await ada.save({ content: "x", expires_at }, key)).toEqual(saved);
    own.clock.advance(2_000);
    const gone = await ada.send("POST", "/memories", {
      json: { content: "x", expires_at },
      headers: key,
    });
    expectError(gone, { status: 409, code: "conflict" });
    const again = await ada.send("POST", "/memories", { json: { content: "x", expires_at } });
    expectInvalid(again, "/expires_at");
  });

  test("who may not read is told nothing of them", async () => {
    const ada = await server.account();
    const { id } = await ada.save({ content: "x", ...FIELDS });
    const writer = await server.client(ada.accountId, ["memories:write"]);
    const changed = await writer.send("PUT", `/memories/${id}`, { json: { pinned: true } });
    const made = await writer.send("POST", "/memories", { json: { content: "x", ...FIELDS } });
    for (const { body } of [changed, made]) {
      expect(Object.keys(Object(body)).sort()).toEqual(["created_at", "id", "updated_at"]);
    }
  });
});

describe("export and import", () => {
  test("carry the fields over, but nothing of which the time has passed", async () => {
    const [ada, bob] = [await server.account(), await server.account()];
    await importInto(ada, { content: "one", ...IMPORTED });
    const past = { content: "two", expires_at: "2020-01-01T00:00:00.000Z" };
    expect(await importInto(ada, past)).toMatchObject({ created: 1 });
    const lines = await exportOf(ada);
    expect(lines).toMatchObject([IMPORTED]);
    expect(await importInto(bob, ...lines)).toMatchObject({ created: 1, invalid: 0 });
    const [{ id } = { id: "" }] = await server.keys.list(bob.accountId);
    const source = { via: "import", by: "test", id } as const;
    expect(await exportOf(bob)).toEqual(lines.map((line) => ({ ...line, source })));
    expect(await importInto(bob, ...lines)).toMatchObject({ unchanged: 1 });
  });

  test.each<Record<string, unknown>>([
    { project: null },
    { pinned: false },
    { supersedes: null },
    { expires_at: null },
  ])("a line that differs in %j is another state of its memory", async (changes) => {
    const ada = await server.account();
    const line = { id: newId(), content: "x", updated_at: "2025-01-01", ...IMPORTED };
    await importInto(ada, line);
    expect(await importInto(ada, { ...line, ...changes })).toMatchObject({ kept: 1 });
    const newer = { ...line, ...changes, updated_at: "2025-01-02" };
    expect(await importInto(ada, newer)).toMatchObject({ updated: 1 });
    expect(await ada.get(line.id)).toMatchObject({ ...IMPORTED, ...changes });
  });

  test("the same text of two projects is two memories", async () => {
    const ada = await server.account();
    const line = { content: "Use tabs.", created_at: "2025-01-01" };
    const lines = [line, { ...line, project: "atlas" }, { ...line, project: "borealis" }];
    expect(await importInto(ada, ...lines)).toMatchObject({ created: 3 });
    expect(await importInto(ada, ...lines)).toMatchObject({ unchanged: 3 });
  });

  test("lines with what can't be are left out", async () => {
    const ada = await server.account();
    const wrong = [{ project: "" }, { pinned: 1 }, { expires_at: "soon" }, { supersedes: "x" }];
    const lines = wrong.map((fields) => ({ content: "x", ...fields }));
    expect(await importInto(ada, ...lines)).toMatchObject({ invalid: 4 });
  });
});

describe("an agent", () => {
  test("saves, changes and reads them", async () => {
    const ada = await server.account();
    await using agent = await mcp(ada.key);
    const { id: supersedes } = await ada.save({ content: "the wasps" });
    const all = { ...FIELDS, supersedes };
    const { data } = await agent.call("save_memory", { content: "the bees", ...all });
    const id = String(data.id);
    expect(await ada.get(id)).toMatchObject(all);
    const read = await agent.call("get_memory", { id });
    const facts = ["project: atlas", "pinned", "expires", `supersedes ${supersedes}`, "by test"];
    for (const fact of facts) {
      expect(read.text).toContain(fact);
    }
    const { text: found } = await agent.call("search_memories", { query: "bees" });
    expect(found).toContain("project: atlas · pinned · expires");

    const changes = { project: null, pinned: false, expires_at: null };
    await agent.call("update_memory", { id, ...changes });
    expect(await ada.get(id)).toMatchObject({ ...changes, supersedes });
    const { text: bare } = await agent.call("get_memory", { id });
    expect(bare).not.toMatch(/project|pinned|expires/);
  });

  test("is told what is wrong with them", async () => {
    const ada = await server.account();
    await using agent = await mcp(ada.key);
    const past = await agent.call("save_memory", { content: "x", expires_at: "2020-01-01" });
    expect(past).toMatchObject({ isError: true, text: "expires_at must be in the future." });
    const { id } = await ada.save({ content: "x" });
    for (const wrong of [{ expires_at: "2020-01-01" }, { project: "" }, { supersedes: OLD }]) {
      const answer = await agent.call("update_memory", { id, ...wrong }).catch(String);
      expect(JSON.stringify(answer)).toMatch(/in the future|empty|unknown field/);
    }
    expect(await ada.get(id)).toMatchObject(NONE);
  });
});

describe("source", () => {
  const idOf = async (accountId: string) => (await server.keys.list(accountId))[0]?.id ?? "";

  test("of a key is its name and id, whichever way it writes", async () => {
    const ada = await server.account();
    const key = { by: "test", id: await idOf(ada.accountId) };
    expect((await ada.save({ content: "x" })).source).toEqual({ via: "api", ...key });
    const [one] = await ada.saveAll([{ content: "x" }]);
    expect(one?.source).toEqual({ via: "api", ...key });
    await using agent = await mcp(ada.key);
    const { data } = await agent.call("save_memory", { content: "y" });
    expect((await ada.get(String(data.id))).source).toEqual({ via: "mcp", ...key });
    const claimed = { via: "dashboard", by: "the owner", id: "acc_1" };
    const line = { id: newId(), content: "x", source: claimed };
    await importInto(ada, line);
    expect((await ada.get(line.id)).source).toEqual({ via: "import", ...key });
  });

  test("of an app is its name, and the id of what it was allowed", async () => {
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

  test("of the local socket is the machine itself", async () => {
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

  test("follows the content: who changes it, and not who changes the rest", async () => {
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
    await importInto(ada, { ...rest, tags: ["c"], updated_at: later });
    expect(await ada.get(id)).toMatchObject({ tags: ["c"], source: changed.source });
    await importInto(ada, { ...rest, content: "x", updated_at: later.replace("2099", "2100") });
    expect((await ada.get(id)).source).toEqual({ via: "import", by: "test", id: first?.id ?? "" });
  });

  test("keeps its name when its key is revoked", async () => {
    const ada = await server.account();
    const { id, source } = await ada.save({ content: "x" });
    await server.keys.revoke(ada.accountId, await idOf(ada.accountId));
    expect((await (await server.client(ada.accountId)).get(id)).source).toEqual(source);
  });
});

describe("the dashboard", () => {
  test("shows the fields, and loses none of them in its form", async () => {
    const { accountId, person } = await server.signedIn();
    const ada = await server.client(accountId);
    const project = "<b>atlas</b>";
    const { id: supersedes } = await ada.save({ content: "long ago" });
    const saved = await ada.save({ content: "before", ...FIELDS, project, supersedes });
    const path = `/memories/${saved.id}`;
    const page = await person.visit(path);
    for (const text of ["&lt;b&gt;atlas", "It is pinned", "Expires", supersedes, "test"]) {
      expect(page.text).toContain(text);
    }
    await person.submit(formTo(await person.visit(`${path}/edit`), path), { content: "after" });
    const by = (await server.accounts.find(accountId))?.email;
    const source = { via: "dashboard", by, id: accountId };
    expect(await ada.get(saved.id)).toMatchObject({
      ...FIELDS,
      ...{ project, supersedes, content: "after", source },
    });
  });

  test("says nothing of fields that a memory does not have", async () => {
    const { accountId, person } = await server.signedIn();
    const { id } = await (await server.client(accountId)).save({ content: "x" });
    const { text } = await person.visit(`/memories/${id}`);
    for (const name of ["Project", "Pinned", "Expires", "Supersedes"]) {
      expect(text).not.toContain(`<dt>${name}</dt>`);
    }
  });
});
