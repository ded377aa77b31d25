import { afterAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import type { Memory } from "../../src/memories/model/memory.ts";
import type { Memories } from "../../src/memories/rules/memories.ts";
import { type Client, contentsOf } from "../support/client.ts";
import { temporaryFolder, testClock } from "../support/database.ts";
import { expectInvalid } from "../support/errors.ts";
import { HASTY, openData } from "../support/live-data.ts";
import { createRandom } from "../support/random.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);

const DAY = 86_400_000;
const ID = "acc_1";
const reach = wholeAccount(ID);
const iso = (time: number) => new Date(time).toISOString();
const idsOf = (memories: readonly { id: string }[]) => memories.map(({ id }) => id);

/** Everything that is listed, and what a search by meaning finds with its order and scores. */
async function knownTo(memories: Memories, knownAt?: number) {
  const filter = { isCurrent: true, ...(knownAt !== undefined && { knownAt }) };
  const listed: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await memories.list(reach, { filter, limit: 7, cursor });
    listed.push(...idsOf(page.memories));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  const asked = { query: "fact about apples", filter, limit: 100, mode: "semantic" as const };
  const found = (await memories.search(reach, asked)).memories;
  return {
    listed,
    count: await memories.count(reach, filter),
    found: found.map(({ id, score, newer, replaces }) => ({ id, score, newer, replaces })),
  };
}

test.each([
  ["in memory", {}],
  ["in files only", { viewMemory: 0 }],
])("what was known %s at any time is what was answered at that time", async (_, options) => {
  const random = createRandom(Number(process.env.SEED ?? 17));
  const clock = testClock();
  await using data = await openData(temporaryFolder(), HASTY, undefined, { clock, ...options });
  const { memories } = data;
  const ids: string[] = [];
  const answers: (Awaited<ReturnType<typeof knownTo>> & { time: number })[] = [];
  for (let step = 0; step < 60; step++) {
    const content = `fact ${step} ${random.word()} ${random.word()}`;
    const supersedes = random.below(2) ? (random.pick(ids.slice(-6)) ?? null) : null;
    const [saved] = await memories
      .saveAll(reach, [{ content, supersedes }])
      // Superseded already.
      .catch(() => []);
    if (saved) ids.push(saved.id);
    clock.advance(random.below(3));
    answers.push({ time: clock(), ...(await knownTo(memories)) });
    clock.advance(1 + random.below(DAY));
  }
  expect(Math.max(...answers.map(({ count }) => count))).toBeLessThan(ids.length);
  for (const { time, ...answer } of answers) {
    expect({ time, ...(await knownTo(memories, time)) }).toEqual({ time, ...answer });
  }
  expect((await knownTo(memories, answers[0]?.time ?? 0)).count).toBe(1);
  expect((await knownTo(memories, 0)).listed).toEqual([]);
});

/** Three texts of one fact, saved a day apart, and another memory on the second day. */
async function threeDays() {
  const ada = await server.account();
  const start = server.clock();
  const first = await ada.save({ content: "Sam works at Acme" });
  server.clock.advance(DAY);
  const second = await ada.save({ content: "Sam works at Globex", supersedes: first.id });
  const other = await ada.save({ content: "Sam works with Anna" });
  server.clock.advance(DAY);
  const third = await ada.save({ content: "Sam works at Initech", supersedes: second.id });
  server.clock.advance(DAY);
  return { ada, start, saved: { first, second, third, other } };
}
const listedAt = async (ada: Client, as_of: string, more = {}) =>
  contentsOf((await ada.list({ as_of, ...more })).memories).toSorted();
const historyAt = async (ada: Client, { id }: Pick<Memory, "id">, query: string) => {
  const { status, body } = await ada.send("GET", `/memories/${id}/history?${query}`);
  expect(status).toBe(200);
  return body as { memories: Memory[]; next_cursor: string | null };
};

test("a search and a list tell what was known then; a date means its end in UTC", async () => {
  const { ada, start } = await threeDays();
  const then = iso(start + 1.5 * DAY);
  const known = ["Sam works at Globex", "Sam works with Anna"];
  expect(await listedAt(ada, then)).toEqual(known);
  for (const mode of ["hybrid", "semantic", "keyword"]) {
    const found = await ada.search("Sam works", { mode, as_of: then });
    expect(contentsOf(found).toSorted()).toEqual(known);
  }
  const withOlder = await listedAt(ada, then, { include_superseded: "true" });
  expect(withOlder).toEqual(["Sam works at Acme", ...known]);
  expect(await listedAt(ada, iso(start).slice(0, 10))).toEqual(["Sam works at Acme"]);
  expect(await listedAt(ada, iso(start))).toEqual(["Sam works at Acme"]);
  expect(await listedAt(ada, iso(start - 1))).toEqual([]);
  expect(await ada.search("Sam works", { as_of: "1969-12-31" })).toEqual([]);
});

test("a time in the future means now", async () => {
  const { ada } = await threeDays();
  const now = (await ada.list()).memories;
  expect((await ada.list({ as_of: "9999-12-31" })).memories).toEqual(now);
  expect((await ada.list({ as_of: iso(server.clock()) })).memories).toEqual(now);
  expect(await ada.search("Sam", { as_of: "2999-01-01" })).toEqual(await ada.search("Sam"));
});

test("a time that is none is refused in one sentence", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "Sam" });
  const message = "must be a moment such as 2026-11-21T07:00:00Z or a date such as 2026-11-21";
  for (const path of ["/memories?", "/memories/search?q=Sam&", `/memories/${id}/history?`]) {
    for (const as_of of ["yesterday", "2026-02-31", "2026-13-01", "", "1", "2026-03-03T10:00"]) {
      const answer = await ada.send("GET", `${path}as_of=${encodeURIComponent(as_of)}`);
      expectInvalid(answer, "/as_of");
      expect(JSON.stringify(answer.body)).toContain(message);
    }
  }
  for (const [method, path] of [
    ["DELETE", "/memories"],
    ["GET", "/memories/export"],
  ] as const) {
    expectInvalid(await ada.send(method, `${path}?as_of=2026-01-01`), "");
  }
});

test("a history ends at that time, page by page", async () => {
  const { ada, start, saved } = await threeDays();
  const query = `as_of=${iso(start + 1.5 * DAY)}`;
  for (const memory of [saved.first, saved.second, saved.third]) {
    const { memories } = await historyAt(ada, memory, query);
    expect(idsOf(memories)).toEqual([saved.second.id, saved.first.id]);
  }
  const page = await historyAt(ada, saved.third, `${query}&limit=1`);
  expect(idsOf(page.memories)).toEqual([saved.second.id]);
  const last = await historyAt(ada, saved.third, `${query}&limit=1&cursor=${page.next_cursor}`);
  expect(idsOf(last.memories)).toEqual([saved.first.id]);
  expect(last.next_cursor).toBeNull();
  expect(await historyAt(ada, saved.first, `as_of=${iso(start - 1)}`)).toEqual({
    memories: [],
    next_cursor: null,
  });
});

test("a memory that has been changed since is marked, and links to what superseded it", async () => {
  const { ada, start, saved } = await threeDays();
  await ada.update(saved.other.id, { content: "Sam works with Bob" });
  const as_of = iso(start + 1.5 * DAY);
  const marks = (found: readonly Memory[]) =>
    Object.fromEntries<unknown[]>(
      found.map(({ id, ...memory }) => [id, [memory.changed_since, memory.superseded_by]]),
    );
  const expected: Record<string, unknown[]> = {
    [saved.second.id]: [undefined, saved.third.id],
    [saved.other.id]: [true, null],
  };
  expect(marks((await ada.list({ as_of })).memories)).toEqual(expected);
  expect(marks(await ada.search("Sam works", { as_of }))).toEqual(expected);
  const history = await historyAt(ada, saved.other, `as_of=${as_of}`);
  expect(history.memories[0]?.changed_since).toBeTrue();
  expect((await ada.list()).memories.some((memory) => "changed_since" in memory)).toBeFalse();
});

test("what was deleted or has expired since does not come back", async () => {
  const { ada, start, saved } = await threeDays();
  const expires_at = iso(server.clock() + DAY);
  await ada.save({ content: "Sam is ill", expires_at });
  const ill = iso(server.clock());
  server.clock.advance(DAY / 2);
  expect(await listedAt(ada, ill)).toContain("Sam is ill");
  server.clock.advance(DAY);
  expect(await listedAt(ada, ill)).not.toContain("Sam is ill");
  // The history is linked past a deleted memory: the one before it held until the next one that is left.
  await ada.send("DELETE", `/memories/${saved.second.id}`);
  const known = await listedAt(ada, iso(start + 1.5 * DAY));
  expect(known).toEqual(["Sam works at Acme", "Sam works with Anna"]);
});

test("ages, times in the query and marks of newer memories are those of that time", async () => {
  const ada = await server.account();
  await ada.save({ content: "Sam had lunch with Anna" });
  const then = server.clock() + DAY;
  server.clock.advance(300 * DAY);
  await ada.save({ content: "Sam had dinner with Bob" });
  const [lunch] = await ada.search("Sam had", { as_of: iso(then), explain: "true" });
  const [now] = await ada.search("lunch with Anna", { explain: "true" });
  expect(lunch?.explanation?.retention).toBeGreaterThan(0.99);
  expect(now?.explanation?.retention).toBeLessThan(0.5);
  const asked = { as_of: iso(then), explain: "true" };
  const [yesterday] = await ada.search("what happened yesterday", asked);
  const [ever] = await ada.search("what happened", asked);
  expect(yesterday?.explanation?.time).toBeGreaterThan(ever?.explanation?.time ?? 9);
});

test("a successor whose clock was behind holds from its own time on", async () => {
  const ada = await server.account();
  const [old, newer] = ["0".repeat(31), "1"].map((end) => `mem_${end.padStart(32, "a")}`);
  const lines = [
    { id: old, content: "Sam rents", created_at: "2025-06-10", superseded_by: newer },
    { id: newer, content: "Sam owns", created_at: "2025-06-05", supersedes: old },
  ];
  const body = lines.map((line) => JSON.stringify(line)).join("\n");
  const headers = { "content-type": "application/x-ndjson" };
  const imported = await ada.send("POST", "/memories/import", { body, headers });
  expect(imported.body).toMatchObject({ created: 2 });
  expect(await listedAt(ada, "2025-06-04")).toEqual([]);
  expect(await listedAt(ada, "2025-06-07")).toEqual(["Sam owns"]);
  expect(await listedAt(ada, "2025-06-12")).toEqual(["Sam owns"]);
});
