import { afterAll, expect, test } from "bun:test";
import { expectError, expectInvalid } from "../support/errors.ts";
import { named } from "../support/named.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);
/** All requests of this account are refused, so it stays empty. */
const refused = await server.account();
/** An account for tests that read only their own memories. */
const shared = await server.account();

const EMOJI = "🦜";

/** JSON of exactly this many bytes in UTF-8, half of them in two-byte characters. */
function metadataOf(bytes: number) {
  const quarter = Math.floor(bytes / 4);
  const bare = Buffer.byteLength(JSON.stringify({ a: "" }));
  return { a: "é".repeat(quarter) + "x".repeat(bytes - bare - 2 * quarter) };
}

const tagsOf = (count: number) => Array.from({ length: count }, (_, index) => `tag ${index}`);

test("a memory with only content has the defaults, and the answer has its location", async () => {
  const ada = await server.account();
  const answer = await ada.send("POST", "/memories", { json: { content: "Ada likes tea." } });
  const location = answer.headers.get("location") ?? "";
  expect(location).toMatch(/^\/api\/memories\/mem_/);
  const read = await ada.send("GET", location.replace("/api", ""));
  expect(read.body).toEqual(answer.body);
  expect(read.headers.get("etag")).toBe(answer.headers.get("etag"));
  expect(read.headers.get("etag")).toMatch(/^"[^"]+"$/);
  // Last: `toMatchObject` replaces matched values by its patterns.
  expect(answer).toMatchObject({
    status: 201,
    body: {
      id: expect.stringMatching(/^mem_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/),
      content: "Ada likes tea.",
      tags: [],
      agent_id: null,
      session_id: null,
      importance: 0.5,
      metadata: {},
      created_at: new Date(server.clock()).toISOString(),
      updated_at: new Date(server.clock()).toISOString(),
    },
  });
});

test("a memory keeps all given fields", async () => {
  const ada = await server.account();
  const given = {
    content: ` line one\r\nline two\t"quoted" \\ ${EMOJI} 日本語 \u0000 `,
    tags: ["work", "Ünïcode", EMOJI],
    agent_id: " planner ",
    session_id: "s-42",
    importance: 0.123456789,
    metadata: { nested: { list: [1, null, "x", true] }, "a/b": 1e-9, "": {} },
  };
  const saved = await ada.save(given);
  expect(saved).toMatchObject(given);
  expect(await ada.get(saved.id)).toEqual(saved);
});

test("metadata is returned unchanged, with any keys and depth", async () => {
  const ada = await server.account();
  const deep = `${"[".repeat(1_500)}${"]".repeat(1_500)}`;
  const metadata = `{"__proto__":{"a":1},"constructor":{},"toJSON":1,"2":1,"1":2,"deep":${deep}}`;
  const answer = await ada.send("POST", "/memories", {
    body: `{"content":"x","metadata":${metadata}}`,
    headers: { "content-type": "application/json" },
  });
  expect(answer.status).toBe(201);
  expect(JSON.stringify(answer.body)).toContain(JSON.stringify(JSON.parse(metadata)));
});

test("tags are trimmed and deduplicated in the given order", async () => {
  const { tags } = await shared.save({ content: "x", tags: [" b ", "a", "b", "\ta\n", "B"] });
  expect(tags).toEqual(["b", "a", "B"]);
});

test.each([
  ["one character", { content: "x" }],
  ["32,768 characters", { content: "x".repeat(32_768) }],
  ["32,768 characters outside the basic plane", { content: EMOJI.repeat(32_768) }],
  ["32 tags", { tags: tagsOf(32) }],
  ["a tag of 64 characters", { tags: [` ${"x".repeat(64)} `] }],
  ["a tag of 64 emoji", { tags: [EMOJI.repeat(64)] }],
  ["agent_id and session_id of one", { agent_id: "a", session_id: "s" }],
  ["agent_id of 128 characters", { agent_id: EMOJI.repeat(128) }],
  ["session_id of 128 characters", { session_id: "s".repeat(128) }],
  ["metadata of 4,096 bytes", { metadata: metadataOf(4_096) }],
  ["importance 0", { importance: 0 }],
  ["importance 1", { importance: 1 }],
])("at the limit: %s", async (_, fields) => {
  const ada = await server.account();
  const saved = await ada.save({ content: "x", ...fields });
  expect(await ada.get(saved.id)).toEqual(saved);
  if (!("tags" in fields)) expect(saved).toMatchObject(fields);
});

const BEYOND: [string, string, Record<string, unknown>][] = [
  ["no characters", "/content", { content: "" }],
  ["white space only", "/content", { content: " \n\t\u00a0\u3000" }],
  ["32,769 characters", "/content", { content: "x".repeat(32_769) }],
  ["32,769 emoji", "/content", { content: EMOJI.repeat(32_769) }],
  ["half a surrogate pair", "/content", { content: "x\ud83e" }],
  ["content null", "/content", { content: null }],
  ["content a number", "/content", { content: 5 }],
  ["33 tags", "/tags", { tags: tagsOf(33) }],
  ["tags as a text", "/tags", { tags: "work" }],
  ["tags null", "/tags", { tags: null }],
  ["a tag of 65 characters", "/tags/1", { tags: ["a", "x".repeat(65)] }],
  ["an empty tag", "/tags/0", { tags: [""] }],
  ["a tag of white space", "/tags/0", { tags: ["  "] }],
  ["a tag with a comma", "/tags/0", { tags: ["a,b"] }],
  ["a tag that is no text", "/tags/2", { tags: ["a", "b", 3] }],
  ["agent_id of 129 characters", "/agent_id", { agent_id: "a".repeat(129) }],
  ["agent_id empty", "/agent_id", { agent_id: "" }],
  ["agent_id a number", "/agent_id", { agent_id: 1 }],
  ["session_id of 129 characters", "/session_id", { session_id: EMOJI.repeat(129) }],
  ["importance −0.1", "/importance", { importance: -0.1 }],
  ["importance 1.1", "/importance", { importance: 1.1 }],
  ["importance as a text", "/importance", { importance: "0.5" }],
  ["importance null", "/importance", { importance: null }],
  ["metadata of 4,097 bytes", "/metadata", { metadata: metadataOf(4_097) }],
  ["metadata a list", "/metadata", { metadata: [] }],
  ["metadata null", "/metadata", { metadata: null }],
  ["an unknown field", "", { colour: "red" }],
  ["a field of the answer", "", { id: "mem_0197f2c4e0b47c3a9a1d5b8e2f60c711" }],
];

test.each(BEYOND)("refused: %s", async (_, path, fields) => {
  expectInvalid(
    await refused.send("POST", "/memories", { json: { content: "x", ...fields } }),
    path,
  );
  const memories = [{ content: "x" }, { content: "x", ...fields }];
  expectInvalid(
    await refused.send("POST", "/memories/batch", { json: { memories } }),
    `/memories/1${path}`,
  );
  expect((await refused.list()).memories).toEqual([]);
});

test.each(
  (
    [
      ["/importance", '{"content":"x","importance":1e999}'],
      ["/metadata", '{"content":"x","metadata":{"a":[1e999]}}'],
      ["/metadata", `{"content":"x","metadata":{"a":${"[".repeat(9_000)}${"]".repeat(9_000)}}}`],
      ["", '{"content":"x","__proto__":{"importance":0.9}}'],
      ["", '{"__proto__":{"content":"x"}}'],
      ["/content", "{}"],
      ["", "[]"],
      ["", '"x"'],
      ["", "null"],
    ] satisfies [string, unknown][]
  ).map(named),
)("refused at %j: a body that starts with %s", async (path, _, body) => {
  const headers = { "content-type": "application/json" };
  expectInvalid(await refused.send("POST", "/memories", { body, headers }), path);
});

test.each(["/memories", "/memories/batch", "/memories/import"])(
  "a body with more values than a memory can have is not parsed: %s",
  async (path) => {
    const memory = `{"content":"x","metadata":{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`;
    const isImport = path.endsWith("import");
    const answer = await refused.send("POST", path, {
      body: path.endsWith("batch") ? `{"memories":[${memory}]}` : memory,
      headers: { "content-type": isImport ? "application/x-ndjson" : "application/json" },
    });
    if (!isImport) return expectError(answer, { status: 413, code: "too_large" });
    const reason = "has more values than a memory may have";
    expect(answer.body).toMatchObject({ invalid: 1, skipped: [{ line: 1, reason }] });
  },
);

test("an answer lists all problems with their paths", async () => {
  const answer = await refused.send("POST", "/memories", {
    json: { content: "", importance: 2, tags: ["a,b"], colour: 1 },
  });
  expect(answer.body).toMatchObject({
    error: {
      code: "validation_failed",
      details: expect.arrayContaining(
        ["/content", "/importance", "/tags/0", ""].map((path) => expect.objectContaining({ path })),
      ),
    },
  });
});

test("a batch is saved in order, with ascending ids and one time", async () => {
  const ada = await server.account();
  const inputs = Array.from({ length: 256 }, (_, index) => ({ content: `memory ${index}` }));
  const memories = await ada.saveAll(inputs);
  expect(memories.map(({ content }) => ({ content }))).toEqual(inputs);
  const ids = memories.map(({ id }) => id);
  expect(new Set(ids).size).toBe(256);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(memories.map(({ created_at }) => created_at)).size).toBe(1);
});

test.each([0, 257])("a batch of %d is refused", async (length) => {
  const memories = Array.from({ length }, () => ({ content: "x" }));
  expectInvalid(await refused.send("POST", "/memories/batch", { json: { memories } }), "/memories");
  expect((await refused.list()).memories).toEqual([]);
});

test.each([
  ["", { memories: [{ content: "x" }], more: 1 }],
  ["/memories", {}],
  ["/memories", { memories: { content: "x" } }],
  ["/memories/0", { memories: ["x"] }],
  ["/memories/0/content", { memories: [{}] }],
])("a batch is refused at %j: %j", async (path, json) => {
  expectInvalid(await refused.send("POST", "/memories/batch", { json }), path);
});
