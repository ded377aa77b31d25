import { afterAll, beforeAll, expect, test } from "bun:test";
import { ListQuery, SearchQuery } from "../../src/memories/http/requests.ts";
import { type Memory, NewMemory } from "../../src/memories/model/memory.ts";
import { hasHidden } from "../../src/text/plain-text.ts";
import { contentsOf } from "../support/client.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);
const ada = await server.account();
const eve = await server.account();

const SECRET = "zqxjsecret";
const MODES = ["hybrid", "semantic", "keyword"];
const NUL = "\u0000";

/** Values that end a string, a condition or a program in some language. */
const TRICKS = [
  "' OR 1=1 --",
  "' OR '1'='1",
  "'; DROP TABLE memories; --",
  "''",
  "'",
  "x') OR (id IS NOT NULL) OR ('",
  "x']) OR array_has_any(tags, [''",
  '" OR 1=1 --',
  '"',
  "\\' OR 1=1 --",
  "\\",
  "`",
  "%",
  "_",
  "*",
  "?",
  "’ OR 1=1 --",
  "ʼ OR 1=1 --",
  "＇ OR 1=1 --",
  "%27 OR 1=1 --",
  "$(id)",
  "{{id}}",
  "/* */",
  "a\nb",
  `${NUL}' OR 1=1 --`,
  `x${NUL}`,
  "null",
  "true",
  "NaN",
  "../ada",
];
const LONG = ["x", "'", '"', "\\", "%", "é", " "].map((character) => character.repeat(10_000));

let hers: Memory[];
let his: Memory;

beforeAll(async () => {
  const inputs = Array.from({ length: 5 }, (_, index) => ({
    content: `${SECRET} number ${index}`,
    tags: ["shared", SECRET],
    agent_id: "planner",
    session_id: "s-1",
    importance: 1,
    metadata: { note: SECRET },
  }));
  hers = await ada.saveAll(inputs);
  his = await eve.save({
    content: "mine",
    tags: ["shared"],
    agent_id: "planner",
    session_id: "s-1",
  });
});

/** Eve's answers must contain neither a text nor an id of Ada's memories. */
function expectNothingOfHers(answer: unknown) {
  const told = JSON.stringify(answer);
  expect(told).not.toContain(SECRET);
  for (const { id } of hers) expect(told).not.toContain(id);
}

test("lists and searches of an account contain nothing of another one", async () => {
  const queries: Record<string, string>[] = [
    {},
    { tags: "shared" },
    { tags: `shared,${SECRET}` },
    { agent_id: "planner" },
    { session_id: "s-1" },
    { created_after: "2000-01-01", created_before: "2100-01-01" },
  ];
  for (const query of queries) {
    expect(contentsOf((await eve.list(query)).memories)).toEqual(["mine"]);
    for (const mode of MODES) {
      expectNothingOfHers(await eve.search("mine", { ...query, mode, limit: 100 }));
      expectNothingOfHers(
        (await eve.search(`number ${SECRET.slice(0, -1)}`, { mode })).map(({ id }) => id),
      );
    }
  }
  expect(await eve.search(SECRET, { mode: "keyword" })).toEqual([]);
  expect(await eve.list({ tags: SECRET })).toEqual({ memories: [], next_cursor: null });
});

test("a memory of another account gets exactly the answer of a missing one", async () => {
  const changes = [
    { json: { content: "taken over" } },
    { json: { agent_id: null } },
    { json: { content: "taken over" }, headers: { "if-match": "*" } },
  ];
  const ask = async (id: string) => {
    const answers = [
      await eve.send("GET", `/memories/${id}`),
      await eve.send("HEAD", `/memories/${id}`),
      await eve.send("DELETE", `/memories/${id}`),
    ];
    for (const change of changes) answers.push(await eve.send("PUT", `/memories/${id}`, change));
    return answers.map(({ status, headers, body }) => {
      for (const own of ["date", "x-request-id"]) headers.delete(own);
      return { status, headers: [...headers], body };
    });
  };
  const [first] = hers;
  const removed = await ada.save({ content: "for a while" });
  await ada.remove(removed.id);
  const [foreign, missing] = [await ask(first?.id ?? ""), await ask(removed.id)];
  expect(JSON.stringify(foreign).replaceAll(first?.id ?? "-", "ID")).toBe(
    JSON.stringify(missing).replaceAll(removed.id, "ID"),
  );
  expect(foreign.every(({ status }) => status === 404)).toBe(true);
  expect((await ada.list()).memories).toEqual(hers.toReversed());
});

test("a cursor of another account lists only the own memories", async () => {
  const { next_cursor } = await ada.list({ limit: 1 });
  const page = await eve.list({ cursor: next_cursor ?? "" });
  expectNothingOfHers(page);
});

test("an idempotency key of one account is unknown in another", async () => {
  const key = { "idempotency-key": "the same" };
  const secret = await ada.save({ content: "made once" }, key);
  const answer = await eve.save({ content: "made once" }, key);
  expect(answer.id).not.toBe(secret.id);
  await ada.remove(secret.id);
  await eve.remove(answer.id);
});

test("deletions by filter remove nothing of another account", async () => {
  expect(await eve.removeMatching({ tags: SECRET })).toBe(0);
  const bait = await eve.save({ content: "bait", tags: ["bait"], agent_id: "planner" });
  expect(await eve.removeMatching({ agent_id: "planner", tags: "bait" })).toBe(1);
  expect((await eve.send("GET", `/memories/${bait.id}`)).status).toBe(404);
  expect(await eve.removeMatching({ created_before: "2000-01-01" })).toBe(0);
  expect((await ada.list()).memories).toEqual(hers.toReversed());
});

test("no parameter reaches another account, or makes the server fail", async () => {
  const parameters = Object.keys({ ...SearchQuery.properties, ...ListQuery.properties });
  for (const value of [...TRICKS, ...LONG]) {
    const text = encodeURIComponent(value);
    const answers = await Promise.all([
      ...parameters.flatMap((name) => [
        eve.send("GET", `/memories/search?${name === "q" ? "" : "q=mine&"}${name}=${text}`),
        eve.send("GET", `/memories?${name}=${text}`),
      ]),
      eve.send("GET", `/memories?${text}=${text}`),
      ...["GET", "DELETE"].map((method) => eve.send(method, `/memories/${text}`)),
      eve.send("PUT", `/memories/${text}`, { json: { content: "x" } }),
      eve.send("DELETE", `/memories?tags=none&tags_match=${text}`),
      eve.send("DELETE", `/memories?created_before=${text}`),
    ]);
    for (const { status, body } of answers) {
      expect(status).toBeOneOf([200, 400, 404, 422, 431]);
      expectNothingOfHers(body);
    }
    expect((await eve.list()).memories).toEqual([his]);
  }
  expect((await ada.list()).memories).toEqual(hers.toReversed());
});

test("no field reaches another account, or makes the server fail", async () => {
  const fields = [...Object.keys(NewMemory.properties), "id", "account_id"];
  const mallory = await server.account();
  for (const value of [...TRICKS, ...LONG]) {
    const bodies = [
      ...fields.map((field) => ({ content: "x", [field]: value })),
      { content: "x", tags: [value] },
      { content: "x", metadata: { [value]: value } },
      { content: "x", [value]: value },
    ];
    const answers = bodies.map((json) => mallory.send("POST", "/memories", { json }));
    for (const answer of await Promise.all(answers)) {
      expect(answer.status).toBeOneOf([200, 201, 422]);
      expectNothingOfHers(answer.body);
    }
    for (const name of ["idempotency-key", "if-match"]) {
      const headers = { [name]: encodeURIComponent(value) };
      const answer = await mallory.send("PUT", `/memories/${his.id}`, {
        json: { content: "x" },
        headers,
      });
      expect(answer.status).toBe(404);
    }
  }
  expect(await eve.get(his.id)).toEqual(his);
  expect((await ada.list()).memories).toEqual(hers.toReversed());
});

test("such values are saved unchanged, and filter exactly", async () => {
  const mallory = await server.account();
  const values = TRICKS.filter(
    (value) => value.length <= 64 && value.trim() === value && !hasHidden(value),
  );
  const tags = values.filter((value) => !value.includes(","));
  await mallory.saveAll(
    values.map((value) => ({
      content: value,
      agent_id: value,
      session_id: value,
      tags: tags.includes(value) ? [value] : [],
      metadata: { [value]: value },
    })),
  );
  const matching = async (query: Record<string, string>) =>
    contentsOf((await mallory.list({ ...query, limit: 100 })).memories);
  for (const value of values) {
    expect(await matching({ agent_id: value })).toEqual([value]);
    expect(await matching({ session_id: value })).toEqual([value]);
    expect(contentsOf(await mallory.search(value, { agent_id: value }))).toEqual([value]);
  }
  for (const value of tags) expect(await matching({ tags: value })).toEqual([value]);
  expect((await matching({ tags: tags.slice(0, 32).join(",") })).length).toBe(
    Math.min(32, tags.length),
  );

  const [first = "", ...others] = values;
  expect(await mallory.removeMatching({ agent_id: first })).toBe(1);
  expect((await matching({})).toSorted()).toEqual(others.toSorted());
});
