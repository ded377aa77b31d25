import { afterAll, expect, test } from "bun:test";
import { contentsOf } from "../support/client.ts";
import { expectError, expectInvalid } from "../support/errors.ts";
import { named } from "../support/named.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);
/** An account without a memory. */
const empty = await server.account();

const HOUR = 3_600_000;
const MODES = ["hybrid", "semantic", "keyword"];

test("an account without memories finds nothing, in any mode", async () => {
  for (const mode of MODES) expect(await empty.search("anything", { mode })).toEqual([]);
});

test("a found memory is the memory with its score", async () => {
  const ada = await server.account();
  const saved = await ada.save({ content: "green tea", tags: ["drink"], metadata: { a: 1 } });
  for (const mode of MODES) {
    const [found, ...others] = await ada.search("tea", { mode });
    expect(others).toEqual([]);
    const matched = { text: "green tea", start: 0, end: 9 };
    expect(found).toEqual({ ...saved, score: expect.any(Number), matched });
    expect(found?.score).toBeGreaterThan(0);
  }
});

test("the best comes first, and the default limit is 10", async () => {
  const ada = await server.account();
  await ada.saveAll(Array.from({ length: 120 }, (_, index) => ({ content: `tea number${index}` })));
  await ada.save({ content: "tea tea tea and nothing but tea" });
  for (const mode of MODES) {
    const found = await ada.search("tea", { mode });
    expect(found).toHaveLength(10);
    const scores = found.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(await ada.search("tea", { mode, limit: 1 })).toEqual(found.slice(0, 1));
    const most = await ada.search("tea", { mode, limit: 100 });
    expect(new Set(most.map(({ id }) => id)).size).toBe(100);
  }
  expect(contentsOf(await ada.search("tea", { limit: 1 }))[0]).toContain("nothing but");
});

test("equal scores are ordered newest first, then by descending id", async () => {
  const ada = await server.account();
  const [first, second] = await ada.saveAll([{ content: "same text" }, { content: "same text" }]);
  for (const mode of MODES) {
    const found = await ada.search("same text", { mode });
    expect(found.map(({ id }) => id)).toEqual([second?.id, first?.id].map(String));
  }
});

test("keyword mode compares whole words, in upper and lower case", async () => {
  const ada = await server.account();
  await ada.saveAll([{ content: "The ZEPPELIN landed" }, { content: "a train arrived" }]);
  expect(contentsOf(await ada.search("zeppelin", { mode: "keyword" }))).toEqual([
    "The ZEPPELIN landed",
  ]);
  expect(await ada.search("zepp", { mode: "keyword" })).toEqual([]);
  // A search by meaning returns every memory.
  expect(await ada.search("zepp", { mode: "semantic" })).toHaveLength(2);
});

test("min_score leaves out lower scores only", async () => {
  const ada = await server.account();
  await ada.saveAll([{ content: "tea" }, { content: "tea and cake" }, { content: "a bicycle" }]);
  const all = await ada.search("tea");
  expect(all).toHaveLength(3);
  for (const min_score of [0, 0.3, 0.6, 1, ...all.map(({ score }) => score)]) {
    expect(await ada.search("tea", { min_score })).toEqual(
      all.filter(({ score }) => score >= min_score),
    );
  }
});

test("filters by tags, agent, session and time apply before candidates are chosen", async () => {
  const ada = await server.account();
  const start = server.clock();
  // More other memories than a search has candidates.
  await ada.saveAll(Array.from({ length: 150 }, () => ({ content: "word", tags: ["other"] })));
  server.clock.advance(HOUR);
  await ada.save({ content: "word a", tags: ["x", "y"], agent_id: "one", session_id: "s" });
  server.clock.advance(HOUR);
  await ada.save({ content: "word b", tags: ["y"], agent_id: "two", session_id: "s" });
  const at = (hours: number) => new Date(start + hours * HOUR).toISOString();

  const cases: [Record<string, string>, string[]][] = [
    [{ tags: "x" }, ["word a"]],
    [{ tags: "x,y" }, ["word a", "word b"]],
    [{ tags: "x,y", tags_match: "all" }, ["word a"]],
    [{ agent_id: "two" }, ["word b"]],
    [{ session_id: "s" }, ["word a", "word b"]],
    [{ session_id: "s", agent_id: "one" }, ["word a"]],
    [{ created_after: at(1) }, ["word a", "word b"]],
    [{ created_after: at(1), created_before: at(2) }, ["word a"]],
    [{ tags: "nothing" }, []],
  ];
  for (const mode of MODES) {
    for (const [query, expected] of cases) {
      const contents = contentsOf(await ada.search("word", { ...query, mode })).toSorted();
      expect({ mode, query, contents }).toEqual({ mode, query, contents: expected });
    }
  }
});

test("a memory of many passages is returned once, and does not crowd out others", async () => {
  const ada = await server.account();
  const long = (name: string) =>
    Array.from({ length: 60 }, (_, index) => `tea ${name}${index}`).join("\n\n");
  await ada.saveAll([
    ...["a", "b", "c"].map((name) => ({ content: long(name) })),
    ...Array.from({ length: 9 }, (_, index) => ({ content: `tea with friends, part ${index}` })),
  ]);
  for (const mode of MODES) {
    const found = await ada.search("tea", { mode, limit: 12 });
    expect({ mode, count: new Set(found.map(({ id }) => id)).size }).toEqual({ mode, count: 12 });
    expect(found).toHaveLength(12);
  }
});

test.each(["q", "agent_id", "session_id"])(
  "%s is plain text, whatever it looks like",
  async (name) => {
    for (const value of ["true", "null", "1", '{"a":1}', "[1,2]", "a+b", "!!!", "(", "AND", "*"]) {
      const query = name === "q" ? { q: value } : { q: "x", [name]: value };
      for (const mode of MODES) {
        const search = new URLSearchParams({ ...query, mode });
        const answer = await empty.send("GET", `/memories/search?${search}`);
        expect({ value, mode, status: answer.status }).toEqual({ value, mode, status: 200 });
      }
    }
  },
);

test.each([
  ["one character", "x"],
  ["2,000 characters", "word ".repeat(400)],
  ["2,000 emoji", "🦜".repeat(2_000)],
  ["one word of 2,000 letters", "x".repeat(2_000)],
  ["no word at all", "?!"],
])("a query of %s is answered", async (_, q) => {
  for (const mode of MODES) expect(await empty.search(q, { mode })).toEqual([]);
});

test.each(
  (
    [
      ["/q", ""],
      ["/q", "q="],
      ["/q", "q=%20%0a"],
      ["/q", `q=${"x".repeat(2_001)}`],
      ["/limit", "q=x&limit=0"],
      ["/limit", "q=x&limit=101"],
      ["/limit", "q=x&limit=1e1"],
      ["/limit", "q=x&limit=0x10"],
      ["/limit", "q=x&limit=%2010"],
      ["/limit", "q=x&limit=99999999999999999999"],
      ["/min_score", "q=x&min_score=-0.1"],
      ["/min_score", "q=x&min_score=1.1"],
      ["/min_score", "q=x&min_score=1e999"],
      ["/min_score", "q=x&min_score=NaN"],
      ["/min_score", "q=x&min_score="],
      ["/mode", "q=x&mode=magic"],
      ["/mode", "q=x&mode="],
      ["/tags", "q=x&tags=,"],
      ["/created_after", "q=x&created_after=2026-13-01"],
      ["", "q=x&cursor=x"],
      ["", "q=x&colour=red"],
    ] satisfies [string, unknown][]
  ).map(named),
)("refused at %j: ?%s", async (path, _, query) => {
  expectInvalid(await empty.send("GET", `/memories/search?${query}`), path);
});

test("a plus in a query string is a space, and %2B a plus", async () => {
  const ada = await server.account();
  await ada.save({ content: "x", agent_id: "a b" });
  await ada.save({ content: "y", agent_id: "a+b" });
  const found = async (agent: string) => {
    const { body } = await ada.send("GET", `/memories/search?q=x&agent_id=${agent}`);
    return body;
  };
  expect(await found("a+b")).toMatchObject({ memories: [{ content: "x" }] });
  expect(await found("a%2Bb")).toMatchObject({ memories: [{ content: "y" }] });
});

test("a query of invalid UTF-8 is refused", async () => {
  const answer = await empty.send("GET", "/memories/search?q=%ff");
  expectError(answer, { status: 400, code: "malformed_request" });
});
