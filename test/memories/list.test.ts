import { afterAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { contentsOf } from "../support/client.ts";
import { expectError, expectInvalid } from "../support/errors.ts";
import { named } from "../support/named.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);

const HOUR = 3_600_000;
const numbered = (count: number, name = "memory") =>
  Array.from({ length: count }, (_, index) => ({ content: `${name} ${index}` }));

async function allPages(
  client: Awaited<ReturnType<typeof server.account>>,
  query: Record<string, string | number>,
  betweenPages: () => Promise<unknown> = async () => {},
) {
  const pages = [await client.list(query)];
  for (let cursor = pages[0]?.next_cursor; cursor; cursor = pages.at(-1)?.next_cursor) {
    await betweenPages();
    pages.push(await client.list({ ...query, cursor }));
  }
  return pages;
}

test("memories are listed newest first, then by descending id", async () => {
  const ada = await server.account();
  const first = await ada.saveAll(numbered(3, "old"));
  server.clock.advance(1);
  const second = await ada.saveAll(numbered(3, "new"));
  const { memories, next_cursor } = await ada.list();
  expect(memories).toEqual([...second.toReversed(), ...first.toReversed()]);
  expect(next_cursor).toBeNull();
});

test("a page has 20 memories by default, and at most 100", async () => {
  const ada = await server.account();
  await ada.saveAll(numbered(101));
  expect((await ada.list()).memories).toHaveLength(20);
  const page = await ada.list({ limit: 100 });
  expect(page.memories).toHaveLength(100);
  expect((await ada.list({ limit: 100, cursor: page.next_cursor ?? "" })).memories).toHaveLength(1);
  expect((await ada.list({ limit: 1 })).memories).toHaveLength(1);
  for (const limit of [0, 101, -1, 1.5, "x", ""]) {
    expectInvalid(await ada.send("GET", `/memories?limit=${limit}`), "/limit");
  }
});

test("the most important memories come first on request, and equally important ones newest first", async () => {
  const ada = await server.account();
  const saved = await ada.saveAll(
    numbered(20).map((memory, index) => ({
      ...memory,
      importance: [1e-7, 0.5, 0.75, 1][index % 4] ?? 0,
    })),
  );
  const expected = saved
    .toReversed()
    .sort((a, b) => b.importance - a.importance)
    .map(({ id }) => id);
  for (const limit of [1, 7, 20]) {
    const pages = await allPages(ada, { sort: "importance", limit });
    expect(pages.flatMap(({ memories }) => memories.map(({ id }) => id))).toEqual(expected);
  }
  const whole = wholeAccount(ada.accountId);
  const page = async (cursor?: string | null) => {
    const request = { filter: {}, limit: 8, order: "importance" as const };
    return server.memories.list(whole, { ...request, ...(cursor && { cursor }) });
  };
  const first = await page();
  expect(await page((await page(first.nextCursor)).previousCursor)).toEqual(first);

  const { next_cursor: newest } = await ada.list({ limit: 1 });
  const { next_cursor: cursor } = await ada.list({ limit: 1, sort: "importance" });
  for (const query of [
    { cursor: cursor ?? "" },
    { cursor: newest ?? "", sort: "importance" },
    {
      cursor: Buffer.from(`1 mem_${"0".repeat(32)} 1 OR`).toString("base64url"),
      sort: "importance",
    },
    { cursor: Buffer.from(`1 mem_${"0".repeat(32)} 1;`).toString("base64url"), sort: "importance" },
  ]) {
    expectInvalid(await ada.send("GET", `/memories?${new URLSearchParams(query)}`), "/cursor");
  }
  expectInvalid(await ada.send("GET", "/memories?sort=best"), "/sort");
});

test("pages of memories with the same time lose and repeat nothing", async () => {
  const ada = await server.account();
  const saved = await ada.saveAll(numbered(57));
  const expected = saved.map(({ id }) => id).toReversed();
  for (const limit of [1, 7, 19, 57, 58]) {
    const pages = await allPages(ada, { limit });
    expect(pages.flatMap(({ memories }) => memories.map(({ id }) => id))).toEqual(expected);
    expect(pages).toHaveLength(Math.ceil(57 / limit));
  }
});

test("paging during writes repeats nothing and loses no kept memory", async () => {
  const ada = await server.account();
  const saved = [...(await ada.saveAll(numbered(30))), ...(await ada.saveAll(numbered(30)))];
  const staying = saved.filter((_, index) => index % 3 !== 0).map(({ id }) => id);
  const leaving = saved.filter((_, index) => index % 3 === 0).map(({ id }) => id);
  const pages = await allPages(ada, { limit: 7 }, async () => {
    server.clock.advance(1);
    const id = leaving.pop();
    await Promise.all([
      ada.save({ content: `arrived before ${leaving.length} were left` }),
      id && ada.remove(id),
      ada.update(staying[0] ?? "", { importance: 0.9 }),
    ]);
  });
  const seen = pages.flatMap(({ memories }) => memories.map(({ id }) => id));
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.filter((id) => staying.includes(id))).toEqual(staying.toReversed());
  expect(seen.filter((id) => !saved.some((memory) => memory.id === id))).toEqual([]);
});

test("filters by tags, agent, session and time apply on every page", async () => {
  const ada = await server.account();
  const start = server.clock();
  await ada.save({ content: "a", tags: ["x", "y"], agent_id: "one", session_id: "s" });
  server.clock.advance(HOUR);
  await ada.save({ content: "b", tags: ["y"], agent_id: "one" });
  server.clock.advance(HOUR);
  await ada.save({ content: "c", tags: ["z"], agent_id: "two", session_id: "s" });
  const at = (hours: number) => new Date(start + hours * HOUR).toISOString();

  const cases: [Record<string, string>, string][] = [
    [{}, "cba"],
    [{ tags: "x" }, "a"],
    [{ tags: "x,z" }, "ca"],
    [{ tags: " x , z " }, "ca"],
    [{ tags: "x,y", tags_match: "any" }, "ba"],
    [{ tags: "x,y", tags_match: "all" }, "a"],
    [{ tags: "x,z", tags_match: "all" }, ""],
    [{ tags: "X" }, ""],
    [{ agent_id: "one" }, "ba"],
    [{ agent_id: "on" }, ""],
    [{ session_id: "s" }, "ca"],
    [{ session_id: "s", agent_id: "two", tags: "z" }, "c"],
    [{ created_after: at(1) }, "cb"],
    [{ created_before: at(1) }, "a"],
    [{ created_after: at(1), created_before: at(2) }, "b"],
    [{ created_after: at(1).replace("Z", "+00:00") }, "cb"],
    [{ created_after: "2099-01-01" }, ""],
    [{ created_before: "9999-12-31T23:59:59.999Z" }, "cba"],
    [{ created_after: "0000-01-01T00:00:00-23:59" }, "cba"],
  ];
  for (const [query, expected] of cases) {
    const pages = await allPages(ada, { ...query, limit: 1 });
    const contents = pages.flatMap(({ memories }) => contentsOf(memories)).join("");
    expect({ query, contents }).toEqual({ query, contents: expected });
  }
});

test.each([
  "not a cursor",
  "",
  "bWVt",
  Buffer.from("1 mem_' OR 1=1 --").toString("base64url"),
  Buffer.from(`99999999999999999 mem_${"0".repeat(32)}`).toString("base64url"),
  Buffer.from(`9007199254740991 mem_${"0".repeat(32)}`).toString("base64url"),
  Buffer.from(`-1 mem_${"0".repeat(32)}`).toString("base64url"),
  Buffer.from(`1.5 mem_${"0".repeat(32)}`).toString("base64url"),
  Buffer.from(`1 mem_${"0".repeat(32)} OR`).toString("base64url"),
  "x".repeat(201),
])("a cursor that the server did not return is refused: %j", async (cursor) => {
  const ada = await server.account();
  const answer = await ada.send("GET", `/memories?cursor=${encodeURIComponent(cursor)}`);
  expectInvalid(answer, "/cursor");
});

test("a cursor with an extreme time returns a page", async () => {
  const ada = await server.account();
  await ada.save({ content: "x" });
  for (const [time, count] of [
    [0, 0],
    [99_999_999_999_999, 1],
  ]) {
    const cursor = Buffer.from(`${time} mem_${"0".repeat(32)}`).toString("base64url");
    expect((await ada.list({ cursor })).memories).toHaveLength(count ?? 0);
  }
});

test.each(
  (
    [
      ["/tags", "tags="],
      ["/tags", "tags=a,,b"],
      ["/tags", `tags=${"x".repeat(65)}`],
      ["/tags", `tags=${Array.from({ length: 33 }, (_, index) => index)}`],
      ["/tags_match", "tags=a&tags_match=some"],
      ["/agent_id", "agent_id="],
      ["/agent_id", `agent_id=${"x".repeat(129)}`],
      ["/session_id", `session_id=${"x".repeat(129)}`],
      ["/created_after", "created_after=yesterday"],
      ["/created_after", "created_after=2026-02-30"],
      ["/created_before", "created_before=1767225600000"],
      ["/created_before", "created_before=2026-01-01T00:00:00"],
      ["", "colour=red"],
      ["", "q=words"],
      ["", "__proto__=x"],
    ] satisfies [string, unknown][]
  ).map(named),
)("refused at %j: ?%s", async (path, _, query) => {
  const ada = await server.account();
  expectInvalid(await ada.send("GET", `/memories?${query}`), path);
});

test("a repeated parameter and invalid UTF-8 are refused", async () => {
  const ada = await server.account();
  const twice = await ada.send("GET", "/memories?limit=2&limit=3");
  expect(twice).toMatchObject({ status: 422, body: { error: { code: "validation_failed" } } });
  for (const query of ["agent_id=%ff", "agent_id=%", "%zz=1", "agent_id=%ed%a0%80"]) {
    const answer = await ada.send("GET", `/memories?${query}`);
    expectError(answer, { status: 400, code: "malformed_request" });
  }
});

test("paging forward and back shows the same pages; a short newer page becomes the first page", async () => {
  const ada = await server.account();
  for (let moment = 0; moment < 4; moment++) {
    await ada.saveAll(numbered(3, `moment ${moment}`));
    server.clock.advance(1);
  }
  const page = (cursor?: string | null) =>
    server.memories.list(wholeAccount(ada.accountId), {
      filter: {},
      limit: 4,
      ...(cursor && { cursor }),
    });
  const first = await page();
  expect(first.previousCursor).toBeNull();
  const second = await page(first.nextCursor);
  const third = await page(second.nextCursor);
  expect(third.nextCursor).toBeNull();
  const back = await page(third.previousCursor);
  expect(back).toEqual(second);
  expect(await page(back.previousCursor)).toEqual(first);

  const { id } = await ada.save({ content: "newest" });
  const withNewer = await page(second.previousCursor);
  expect(withNewer.memories).toEqual(first.memories);
  const top = await page(withNewer.previousCursor);
  expect(top.memories.map((memory) => memory.id)).toEqual([
    id,
    ...first.memories.slice(0, 3).map((memory) => memory.id),
  ]);
  expect(top.previousCursor).toBeNull();
  expect(await server.memories.count(wholeAccount(ada.accountId), {})).toBe(13);
});
