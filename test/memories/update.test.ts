import { afterAll, expect, test } from "bun:test";
import { contentsOf } from "../support/client.ts";
import { expectError, expectInvalid } from "../support/errors.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { named } from "../support/named.ts";
import { startServer } from "../support/server.ts";

const embedder = fakeEmbedder();
const server = await startServer({ embedder });
afterAll(server.close);
/** An account whose memories are changed one by one. */
/** An account whose memory no test may change. */
const steady = await server.account();
const memory = await steady.save({ content: "steady" });

const FULL = {
  content: "before",
  tags: ["a", "b"],
  agent_id: "one",
  session_id: "s",
  importance: 0.2,
  metadata: { a: 1 },
};
const MISSING = "mem_0197f2c4e0b47c3a9a1d5b8e2f60c711";

test.each<Record<string, unknown>>([
  { content: "after" },
  { tags: ["c"] },
  { tags: [] },
  { agent_id: "two" },
  { session_id: "t" },
  { importance: 0 },
  { importance: 1 },
  { metadata: { b: { c: 2 } } },
  { metadata: {} },
  { agent_id: null },
  { session_id: null },
  { content: "after", tags: ["z"], agent_id: null, session_id: "u", importance: 1, metadata: {} },
])("an update with %j changes that and nothing else", async (changes) => {
  const changing = await server.account();
  const saved = await changing.save(FULL);
  server.clock.advance(1_000);
  const updated = await changing.update(saved.id, changes);
  expect<unknown>(updated).toEqual({
    ...saved,
    ...changes,
    updated_at: new Date(server.clock()).toISOString(),
  });
  expect(await changing.get(saved.id)).toEqual(updated);
  expect((await changing.list({ limit: 1 })).memories).toEqual([updated]);
});

test("content is embedded only when it changes", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "first words" });
  embedder.contents.length = 0;
  await ada.update(id, { content: "first words", importance: 0.9 });
  await ada.update(id, { tags: ["x"] });
  expect(embedder.contents).toEqual([]);
  await ada.update(id, { content: "other words" });
  expect(embedder.contents).toEqual(["other words"]);
});

test("the next search finds the new content and not the old one", async () => {
  const ada = await server.account();
  await ada.save({ content: "a bystander" });
  const { id } = await ada.save({ content: "zeppelin" });
  for (let round = 0; round < 5; round++) {
    const [before, after] = round % 2 ? ["submarine", "zeppelin"] : ["zeppelin", "submarine"];
    await ada.update(id, { content: after });
    expect(contentsOf(await ada.search(after, { mode: "keyword" }))).toEqual([after]);
    expect(await ada.search(before, { mode: "keyword" })).toEqual([]);
    const [best] = await ada.search(after, { mode: "semantic" });
    expect(best).toMatchObject({ id, content: after });
    expect(contentsOf(await ada.search(before, { mode: "semantic" }))).not.toContain(before);
  }
});

test("the next search filters by the new tags, agent and session", async () => {
  const ada = await server.account();
  const { id } = await ada.save(FULL);
  await ada.update(id, { tags: ["new"], agent_id: null, session_id: "t" });
  for (const query of [{ tags: "a" }, { agent_id: "one" }, { session_id: "s" }]) {
    expect(await ada.search("before", query)).toEqual([]);
  }
  for (const query of [{ tags: "new" }, { session_id: "t" }]) {
    expect(await ada.search("before", query)).toHaveLength(1);
  }
});

test("the former passages of a shortened memory are not found", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "one\n\ntwo\n\nthree", tags: ["a"] });
  await ada.update(id, { tags: ["b"] });
  expect(await ada.search("three", { mode: "semantic", tags: "a" })).toEqual([]);
  const [found] = await ada.search("three", { mode: "semantic", tags: "b" });
  expect(found?.score).toBeGreaterThan(0.9);
  await ada.update(id, { content: "four" });
  const [rest, ...others] = await ada.search("three", { mode: "semantic" });
  expect(others).toEqual([]);
  expect(rest?.score).toBeLessThan(0.5);
  await ada.update(id, { content: "one\n\ntwo\n\nfive" });
  expect((await ada.search("five", { mode: "semantic" }))[0]?.score).toBeGreaterThan(0.9);
  await ada.remove(id);
  expect(await ada.search("five", { mode: "semantic" })).toEqual([]);
});

test("simultaneous updates of a memory all take effect, one after the other", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "start" });
  await Promise.all([
    ada.update(id, { content: "changed" }),
    ada.update(id, { importance: 0.9 }),
    ada.update(id, { tags: ["x"] }),
    ada.update(id, { agent_id: "one" }),
    ada.update(id, { metadata: { a: 1 } }),
  ]);
  expect(await ada.get(id)).toMatchObject({
    content: "changed",
    importance: 0.9,
    tags: ["x"],
    agent_id: "one",
    metadata: { a: 1 },
  });
});

test("If-Match accepts one of two writers, and refuses the other", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "x" });
  const path = `/memories/${id}`;
  const first = (await ada.send("GET", path)).headers.get("etag") ?? "";
  const put = (importance: number, ifMatch: string) =>
    ada.send("PUT", path, { json: { importance }, headers: { "if-match": ifMatch } });

  const answers = await Promise.all([put(0.1, first), put(0.2, first), put(0.3, first)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412]);
  const won = answers.find(({ status }) => status === 200);
  expect((await ada.send("GET", path)).body).toEqual(won?.body);
  for (const answer of answers) {
    if (answer !== won) expectError(answer, { status: 412, code: "precondition_failed" });
  }

  const second = won?.headers.get("etag") ?? "";
  expect(second).not.toBe(first);
  expect((await ada.send("GET", path)).headers.get("etag")).toBe(second);
  for (const [ifMatch, status] of [
    [first, 412],
    [`W/${second}`, 412],
    [second.slice(1, -1), 412],
    ['""', 412],
    ["", 412],
    [`"a, b", ${first}`, 412],
    [`"other" , ${second}`, 200],
    ["*", 200],
  ] as const) {
    const current = (await ada.send("GET", path)).headers.get("etag") ?? "";
    const answer = await put(Math.random(), ifMatch.replace(second, current));
    expect({ ifMatch, status: answer.status }).toEqual({ ifMatch, status });
  }
});

test("an update that If-Match refuses is not embedded and changes nothing", async () => {
  embedder.contents.length = 0;
  const answer = await steady.send("PUT", `/memories/${memory.id}`, {
    json: { content: "never" },
    headers: { "if-match": '"other"' },
  });
  expectError(answer, { status: 412, code: "precondition_failed" });
  expect(embedder.contents).toEqual([]);
  expect(await steady.get(memory.id)).toEqual(memory);
});

test.each(
  (
    [
      ["", {}],
      ["", { colour: "red" }],
      ["", { content: "x", created_at: "2026-01-01T00:00:00.000Z" }],
      ["/content", { content: null }],
      ["/content", { content: " " }],
      ["/content", { content: "🦜".repeat(32_769) }],
      ["/tags", { tags: null }],
      ["/tags/0", { tags: ["a,b"] }],
      ["/agent_id", { agent_id: "" }],
      ["/agent_id", { agent_id: 5 }],
      ["/session_id", { session_id: "x".repeat(129) }],
      ["/importance", { importance: null }],
      ["/importance", { importance: 1.01 }],
      ["/metadata", { metadata: null }],
      ["/metadata", { metadata: { a: "x".repeat(4_096) } }],
      ["", []],
      ["", null],
    ] satisfies [string, unknown][]
  ).map(named),
)("refused at %j: %s", async (path, _, json) => {
  expectInvalid(await steady.send("PUT", `/memories/${memory.id}`, { json }), path);
  expect(await steady.get(memory.id)).toEqual(memory);
});

test("`__proto__` is not a field", async () => {
  for (const body of [
    '{"__proto__":{"importance":1}}',
    '{"tags":[],"__proto__":{"content":"x"}}',
  ]) {
    const headers = { "content-type": "application/json" };
    expectInvalid(await steady.send("PUT", `/memories/${memory.id}`, { body, headers }), "");
  }
  expect(await steady.get(memory.id)).toEqual(memory);
});

test.each([MISSING, "x", "mem_", `${MISSING}0`, MISSING.toUpperCase(), "%00", "..%2fstats"])(
  "there is no memory %j to read, change or delete",
  async (id) => {
    for (const [method, json] of [["GET"], ["PUT", { importance: 1 }], ["DELETE"]] as const) {
      const answer = await steady.send(method, `/memories/${id}`, { json });
      expectError(answer, { status: 404, code: "memory_not_found" });
    }
  },
);
