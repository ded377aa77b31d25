import { afterAll, describe, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";
import { expectError, expectInvalid } from "../support/errors.ts";
import { connectHttp } from "../support/mcp.ts";
import { named } from "../support/named.ts";
import { exportMemories, importLines, newMemoryId } from "../support/transfer.ts";

const server = await startOAuthServer();
afterAll(server.close);
/** All requests of this account are refused, so it stays empty. */
const refused = await server.account();

const DAY = 86_400_000;
const OLD = "mem_0197f2c4e0b47c3a9a1d5b8e2f60c711";
const at = (days: number) => new Date(server.clock() + days * DAY).toISOString();
const FIELDS = { project: "atlas", pinned: true, expires_at: at(30) };
/** Imported fields, whose link may name a missing memory. */
const IMPORTED = { ...FIELDS, supersedes: OLD };
const NONE = { project: null, pinned: false, supersedes: null, expires_at: null };

const mcp = (key: string) =>
  connectHttp("v2 new", server.origin, { authorization: `Bearer ${key}` });

describe("over HTTP", () => {
  test("a memory has none of the fields unless it is saved with them", async () => {
    const ada = await server.account();
    expect(await ada.save({ content: "x" })).toMatchObject(NONE);
    expect(await ada.save({ content: "y", project: null, supersedes: null })).toMatchObject(NONE);
  });

  test("fields are saved, and every answer has them", async () => {
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

  test("a time may be a date, or have another offset", async () => {
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

  test("a repeated request answers that its memory has expired", async () => {
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

  test("a key without the scope to read gets none of the fields", async () => {
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
  test("keep the fields, and leave out expired memories", async () => {
    const [ada, bob] = [await server.account(), await server.account()];
    await importLines(ada, { content: "one", ...IMPORTED });
    const past = { content: "two", expires_at: "2020-01-01T00:00:00.000Z" };
    expect(await importLines(ada, past)).toMatchObject({ created: 1 });
    const lines = await exportMemories(server.origin, ada);
    expect(lines).toMatchObject([IMPORTED]);
    expect(await importLines(bob, ...lines)).toMatchObject({ created: 1, invalid: 0 });
    const [{ id } = { id: "" }] = await server.keys.list(bob.accountId);
    const source = { via: "import", by: "test", id } as const;
    expect(await exportMemories(server.origin, bob)).toEqual(
      lines.map((line) => ({ ...line, source })),
    );
    expect(await importLines(bob, ...lines)).toMatchObject({ unchanged: 1 });
  });

  test.each<Record<string, unknown>>([
    { project: null },
    { pinned: false },
    { supersedes: null },
    { expires_at: null },
  ])("a line that differs in %j is another state of its memory", async (changes) => {
    const ada = await server.account();
    const line = { id: newMemoryId(), content: "x", updated_at: "2025-01-01", ...IMPORTED };
    await importLines(ada, line);
    expect(await importLines(ada, { ...line, ...changes })).toMatchObject({ kept: 1 });
    const newer = { ...line, ...changes, updated_at: "2025-01-02" };
    expect(await importLines(ada, newer)).toMatchObject({ updated: 1 });
    expect(await ada.get(line.id)).toMatchObject({ ...IMPORTED, ...changes });
  });

  test("the same text in two projects is two memories", async () => {
    const ada = await server.account();
    const line = { content: "Use tabs.", created_at: "2025-01-01" };
    const lines = [line, { ...line, project: "atlas" }, { ...line, project: "borealis" }];
    expect(await importLines(ada, ...lines)).toMatchObject({ created: 3 });
    expect(await importLines(ada, ...lines)).toMatchObject({ unchanged: 3 });
  });

  test("skip lines with invalid fields", async () => {
    const ada = await server.account();
    const wrong = [{ project: "" }, { pinned: 1 }, { expires_at: "soon" }, { supersedes: "x" }];
    const lines = wrong.map((fields) => ({ content: "x", ...fields }));
    expect(await importLines(ada, ...lines)).toMatchObject({ invalid: 4 });
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

  test("receives the problems of invalid fields", async () => {
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

describe("the dashboard", () => {
  test("shows the fields, and its form keeps them", async () => {
    const { accountId, person } = await server.signedIn();
    const ada = await server.client(accountId);
    const project = "<b>atlas</b>";
    const { id: supersedes } = await ada.save({ content: "long ago" });
    const saved = await ada.save({ content: "before", ...FIELDS, project, supersedes });
    const path = `/memories/${saved.id}`;
    const page = await person.visit(path);
    for (const text of ["&lt;b&gt;atlas", "This memory is pinned", "Expires", supersedes, "test"]) {
      expect(page.text).toContain(text);
    }
    await person.submit(formTo(await person.visit(`${path}/edit`), path), { content: "after" });
    const by = (await server.accounts.find(accountId))?.email;
    const source = { via: "dashboard", by, id: accountId };
    expect(await ada.get(saved.id)).toMatchObject({
      ...FIELDS,
      project,
      supersedes,
      content: "after",
      source,
    });
  });

  test("leaves out fields that a memory does not have", async () => {
    const { accountId, person } = await server.signedIn();
    const { id } = await (await server.client(accountId)).save({ content: "x" });
    const { text } = await person.visit(`/memories/${id}`);
    for (const name of ["Project", "Pinned", "Expires", "Supersedes"]) {
      expect(text).not.toContain(`<dt>${name}</dt>`);
    }
  });
});
