import { afterAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { LIMITS } from "../../src/memories/model/memory.ts";
import type { Client } from "../support/client.ts";
import { outcomeOf } from "../support/outcome.ts";
import { startServer } from "../support/server.ts";
import { exportText, importText, memoriesIn, newMemoryId, toLines } from "../support/transfer.ts";
import { until } from "../support/until.ts";

const server = await startServer();
afterAll(server.close);

const NDJSON = { "content-type": "application/x-ndjson" };
const NOTHING = {
  created: 0,
  updated: 0,
  unchanged: 0,
  kept: 0,
  invalid: 0,
  masked: 0,
  skipped: [],
};

const exportOf = (client: Client, query?: string) => exportText(server.origin, client, query);

const MEMORY = {
  content: "Ada keeps bees.",
  tags: ["garden", "hobby"],
  agent_id: "planner",
  session_id: "s-1",
  importance: 0.1 + 0.2,
  metadata: { "2": "é\u2028", "1": [1e21, -0.5, null], __proto__x: {} },
  created_at: "2023-05-08T13:56:00.123Z",
  updated_at: "2024-02-29T00:00:00.000Z",
};

/** An export without sources, since an import sets them. */
const withoutSource = (text: string) => text.replaceAll(/"source":\{[^}]*\}/g, "");

test("an export that is imported elsewhere is exported byte for byte the same", async () => {
  const [ada, bob] = [await server.account(), await server.account()];
  await ada.saveAll(
    Array.from({ length: 256 }, (_, n) => ({ content: `Cat ${n}`, tags: ["cat"] })),
  );
  await ada.save({ content: "First passage.\n\nSecond passage.", metadata: { a: [1] } });
  server.clock.advance(1_000);
  const { id } = await ada.save({ content: "Changed later." });
  server.clock.advance(1_000);
  await ada.update(id, { importance: 0.75 });
  await importText(ada, toLines([MEMORY]));

  const exported = await exportOf(ada);
  expect(memoriesIn(exported)).toHaveLength(259);
  expect(memoriesIn(exported)[0]).toMatchObject(MEMORY);
  expect(await importText(bob, exported)).toEqual({ ...NOTHING, created: 259 });
  expect(withoutSource(await exportOf(bob))).toBe(withoutSource(exported));
  expect(await importText(bob, exported)).toEqual({ ...NOTHING, unchanged: 259 });
  expect(withoutSource(await exportOf(bob))).toBe(withoutSource(exported));

  expect(memoriesIn(await exportOf(ada, "?tags=garden"))).toEqual([
    expect.objectContaining(MEMORY),
  ]);
  expect(await exportOf(ada, "?agent_id=nobody")).toBe("");
  expect((await bob.search("First Second passage"))[0]?.content).toStartWith("First passage.");
});

test("the newer state of a memory wins", async () => {
  const ada = await server.account();
  const id = newMemoryId();
  const state = (content: string, day: number, rest = {}) => ({
    id,
    content,
    created_at: "2025-01-01",
    updated_at: `2025-01-0${day}`,
    ...rest,
  });
  expect(await importText(ada, toLines([state("old", 2), state("newer", 4)]))).toMatchObject({
    created: 1,
    updated: 1,
  });
  expect(await importText(ada, toLines([state("older", 3), state("other", 4)]))).toEqual({
    ...NOTHING,
    kept: 2,
    skipped: [1, 2].map((line) => ({
      line,
      outcome: "kept",
      reason: "is not newer than the existing memory",
    })),
  });
  expect(await ada.get(id)).toMatchObject({
    content: "newer",
    created_at: "2025-01-01T00:00:00.000Z",
  });
  // Its vectors stay if its content stays.
  await importText(ada, toLines([state("newer", 5, { tags: ["x"] })]));
  expect(await ada.get(id)).toMatchObject({ tags: ["x"], updated_at: "2025-01-05T00:00:00.000Z" });
  expect((await ada.search("newer"))[0]).toMatchObject({ id });
});

test("lines without ids and times are imported once, in their order", async () => {
  const ada = await server.account();
  const lines = toLines([{ content: "one" }, { content: "two" }, { content: "one" }]);
  expect(await importText(ada, lines)).toEqual({ ...NOTHING, created: 2, unchanged: 1 });
  server.clock.advance(60_000);
  expect(await importText(ada, lines)).toEqual({ ...NOTHING, unchanged: 3 });
  expect(memoriesIn(await exportOf(ada)).map(({ content }) => content)).toEqual(["one", "two"]);
});

test("turns without ids and with the same time keep the order of their lines", async () => {
  const ada = await server.account();
  const turns = Array.from({ length: 40 }, (_, n) => ({
    content: `Turn ${n}`,
    session_id: "s",
    created_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-01T00:00:00.000Z",
  }));
  const [first, second] = [toLines(turns.slice(0, 25)), toLines(turns)];
  expect(await importText(ada, first)).toEqual({ ...NOTHING, created: 25 });
  expect(await importText(ada, second)).toEqual({ ...NOTHING, created: 15, unchanged: 25 });
  const exported = memoriesIn(await exportOf(ada));
  expect(exported.map(({ content }) => content)).toEqual(turns.map(({ content }) => content));
  expect(exported.at(-1)?.created_at).toBe("2026-01-01T00:00:00.039Z");
  const bob = await server.account();
  await importText(bob, toLines(exported));
  expect(memoriesIn(await exportOf(bob)).map(({ created_at }) => created_at)).toEqual(
    exported.map(({ created_at }) => created_at),
  );
});

test("a masked line keeps within the limits, and can be imported again", async () => {
  const [ada, bob] = [await server.account(), await server.account()];
  const secret = "password: Xk9$q1zz ";
  const wanted = {
    content: secret.repeat(Math.floor(LIMITS.content / secret.length)).trim(),
    tags: ["of the gate and the cellar and the roof password: Xk9$q1zz"],
    metadata: { note: secret.repeat(200) },
  };
  expect(await importText(ada, toLines([wanted]))).toMatchObject({ created: 1, masked: 1 });
  const exported = await exportOf(ada);
  expect(exported).not.toContain("Xk9");
  expect(await importText(bob, exported)).toMatchObject({ created: 1, invalid: 0 });
});

test("secrets in lines are masked, and importing the lines again changes nothing", async () => {
  const ada = await server.account();
  const password = `Xy7${Bun.hash("a").toString(36)}`;
  const lines = toLines([
    { content: `The database is postgres://sam:${password}@db.example.com/atlas` },
    { content: "Tea is hot." },
    { content: "A table", metadata: { url: `https://sam:${password}@example.com`, row: 7 } },
  ]);
  expect(await importText(ada, lines)).toEqual({ ...NOTHING, created: 3, masked: 2 });
  expect(await importText(ada, lines)).toEqual({ ...NOTHING, unchanged: 3, masked: 2 });
  const exported = await exportOf(ada);
  expect(exported).not.toContain(password);
  expect(memoriesIn(exported).at(-1)?.metadata).toMatchObject({ row: 7 });
  expect(exported).toContain("db.example.com/atlas");
});

test("invalid lines are reported, and the others saved", async () => {
  const ada = await server.account();
  const bytes = Buffer.concat([
    Buffer.from('\ufeff{"content":"with a byte order mark"}\r\n\r\n'),
    Buffer.from('{"content":\n'),
    Buffer.from([123, 0xff, 125, 10]),
    Buffer.from('{"content":"a","password":"hunter2"}\n[]\n{}\n'),
    Buffer.from(`{"content":"${"x".repeat(1 << 20)}"}\n`),
    Buffer.from('{"id":"mem_1","content":"a"}\n{"content":"a","created_at":"1969-12-31"}\n'),
    Buffer.from('{"content":"without a line break"}'),
  ]);
  const report = await importText(ada, bytes);
  expect(report).toMatchObject({ created: 2, invalid: 8 });
  expect(report.skipped.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  expect(report.skipped.map(({ reason }) => reason)).toEqual([
    "is not valid JSON in UTF-8",
    "is not valid JSON in UTF-8",
    expect.stringContaining("has an unknown field"),
    "the request must be a JSON object.",
    "content is required.",
    "is longer than 1048576 bytes",
    "id must be mem_ and 32 hexadecimal digits in lower case.",
    "created_at must not be before 1970.",
  ]);
  expect(JSON.stringify(report)).not.toContain("hunter2");
});

test("a dry run reports what would be done, and changes nothing", async () => {
  const ada = await server.account();
  await importText(ada, toLines([{ ...MEMORY, id: newMemoryId() }]));
  const before = await exportOf(ada);
  const lines = `${before}${toLines([{ content: "new" }, {}])}`;
  expect(await importText(ada, lines, "?dry_run=true")).toMatchObject({
    created: 1,
    unchanged: 1,
    invalid: 1,
  });
  expect(await exportOf(ada)).toBe(before);
});

test("an id of another account is neither read nor changed", async () => {
  const [ada, bob] = [await server.account(), await server.account()];
  const { id } = await ada.save({ content: "Ada's own." });
  const lines = toLines([{ id, content: "Bob's.", updated_at: "2031-01-01" }]);
  expect(await importText(bob, lines)).toEqual({ ...NOTHING, created: 1 });
  expect(await ada.get(id)).toMatchObject({ content: "Ada's own." });
  expect(await bob.get(id)).toMatchObject({ content: "Bob's." });
  expect(await exportOf(ada)).not.toContain("Bob's");
});

test("simultaneous imports of a file create each memory once", async () => {
  const ada = await server.account();
  const lines = toLines(Array.from({ length: 600 }, (_, n) => ({ content: `Line ${n}` })));
  const reports = await Promise.all([importText(ada, lines), importText(ada, lines)]);
  const sum = (name: "created" | "unchanged") =>
    reports.reduce((total, report) => total + report[name], 0);
  expect({ created: sum("created"), unchanged: sum("unchanged") }).toEqual({
    created: 600,
    unchanged: 600,
  });
  expect(memoriesIn(await exportOf(ada))).toHaveLength(600);
});

test("the saved part of an interrupted import stays, and a second import completes it", async () => {
  const ada = await server.account();
  const lines = Array.from({ length: 700 }, (_, n) => ({ content: `Line ${n}` }));
  const broken = new ReadableStream({
    async start(controller) {
      controller.enqueue(Buffer.from(toLines(lines.slice(0, 300)).slice(0, -20)));
      await until("imported memories", async () => (await exportOf(ada)) !== "");
      controller.error(new Error("broken off"));
    },
  });
  const sending = ada.send("POST", "/memories/import", { body: broken, headers: NDJSON });
  expect(await outcomeOf(sending)).toThrow();
  const saved = memoriesIn(await exportOf(ada)).length;
  expect(saved).toBeGreaterThanOrEqual(256);
  expect(await importText(ada, toLines(lines))).toEqual({
    ...NOTHING,
    created: 700 - saved,
    unchanged: saved,
  });
});

test("an export has all memories of a batch or none, and each once", async () => {
  const ada = await server.account();
  let isOver = false;
  const writing = (async () => {
    for (let n = 0; !isOver; n++) {
      await ada.saveAll([{ content: `left ${n}` }, { content: `right ${n}` }]);
    }
  })();
  for (let round = 0; round < 20; round++) {
    const contents = memoriesIn((await exportOf(ada)) || '{"content":""}').map(
      (one) => one.content,
    );
    expect(new Set(contents).size).toBe(contents.length);
    const numbers = (side: string) =>
      contents
        .filter((one) => one.startsWith(side))
        .map((one) => one.split(" ")[1])
        .sort();
    expect(numbers("left")).toEqual(numbers("right"));
  }
  isOver = true;
  await writing;
});

test("memories that are deleted during an export are left out", async () => {
  const ada = await server.account();
  await ada.saveAll(Array.from({ length: 200 }, (_, n) => ({ content: `${n}`, tags: ["x"] })));
  const pages = await server.memories.export(wholeAccount(ada.accountId), {});
  const { value: first } = await pages.next();
  expect(first?.length).toBeGreaterThan(0);
  expect(first?.length).toBeLessThan(200);
  expect(await ada.removeMatching({ tags: "x" })).toBe(200);
  expect((await pages.next()).value).toEqual([]);
});

test("an import needs the scope to write and the right content type", async () => {
  const ada = await server.account();
  const reader = await server.client(ada.accountId, ["memories:read"]);
  const body = toLines([{ content: "a" }]);
  const send = (client: Client, headers: Record<string, string>) =>
    client.send("POST", "/memories/import", { body, headers });
  expect(await send(reader, NDJSON)).toMatchObject({ status: 403 });
  expect(await send(ada, { "content-type": "application/json" })).toMatchObject({ status: 415 });
  expect(await send(ada, {})).toMatchObject({ status: 415 });
  expect(await send(ada, { ...NDJSON, "content-encoding": "gzip" })).toMatchObject({ status: 415 });
  expect(await ada.send("GET", "/memories/export?limit=3")).toMatchObject({ status: 422 });
  expect(await exportOf(reader)).toBe("");
});
