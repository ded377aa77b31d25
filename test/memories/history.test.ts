import { afterAll, describe, expect, test } from "bun:test";
import type { Memory } from "../../src/memories/model/memory.ts";
import { type Client, contentsOf } from "../support/client.ts";
import { expectError, expectInvalid } from "../support/errors.ts";
import { connectHttp } from "../support/mcp.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);

const NOWHERE = "mem_0197f2c4e0b47c3a9a1d5b8e2f60c711";

/** Saves memories, each of which supersedes the one before. */
const saveChain = async (client: Client, ...contents: string[]) => {
  const saved: Memory[] = [];
  for (const content of contents) {
    const supersedes = saved.at(-1)?.id ?? null;
    saved.push(await client.save({ content, supersedes }));
    server.clock.advance(1);
  }
  return saved;
};
const historyOf = async ({ send }: Client, { id }: Pick<Memory, "id">, query = "") => {
  const answer = await send("GET", `/memories/${id}/history${query}`);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as { memories: Memory[]; next_cursor: string | null };
};
const historyTexts = async (client: Client, memory: Pick<Memory, "id">) =>
  contentsOf((await historyOf(client, memory)).memories).join(" ");
/** The current memories, and the links of all. */
const known = async (client: Client) => {
  const all = (await client.list({ include_superseded: "true", limit: 100 })).memories;
  const names = new Map(all.map(({ id, content }) => [id, content]));
  const name = (id: string | null) => (id === null ? "" : (names.get(id) ?? "?"));
  return {
    current: contentsOf((await client.list()).memories)
      .toSorted()
      .join(" "),
    links: all
      .map(({ content, supersedes, superseded_by }) =>
        [name(superseded_by), content, name(supersedes)].join(">"),
      )
      .toSorted()
      .join(" "),
  };
};

describe("a memory that supersedes another one", () => {
  test("replaces it in lists and searches; the other one is history", async () => {
    const ada = await server.account();
    const [old, now] = await saveChain(ada, "Sam works at Acme", "Sam works at Globex");
    if (!old || !now) throw new Error("nothing was saved");
    expect(await ada.get(old.id)).toEqual({ ...old, superseded_by: now.id });
    expect((await ada.list()).memories).toEqual([now]);
    for (const mode of ["hybrid", "semantic", "keyword"]) {
      expect((await ada.search("Sam works", { mode })).map(({ id }) => id)).toEqual([now.id]);
      const all = await ada.search("Sam works", { mode, include_superseded: "true" });
      expect(all.map(({ id }) => id).toSorted()).toEqual([old.id, now.id].toSorted());
    }
    expect((await historyOf(ada, old)).memories).toEqual([now, await ada.get(old.id)]);
    expect(await historyOf(ada, now)).toEqual(await historyOf(ada, old));
  });

  test("belongs to the same project by default", async () => {
    const ada = await server.account();
    const old = await ada.save({ content: "a", project: "atlas" });
    const now = await ada.save({ content: "b", supersedes: old.id });
    expect(now.project).toBe("atlas");
    expect(await ada.get(now.id)).toEqual(now);
    const general = await ada.save({ content: "c", supersedes: now.id, project: null });
    expect(general.project).toBeNull();
  });

  test("belongs to that project when an agent of another project saves it", async () => {
    const ada = await server.account();
    const { id: supersedes } = await ada.save({ content: "Sam lives in Lisbon" });
    await using agent = await connectHttp("v2 new", server.origin, {
      authorization: `Bearer ${ada.key}`,
      "ctxd-project": "atlas",
    });
    await agent.call("save_memory", { content: "Sam lives in Porto", supersedes });
    expect((await ada.list()).memories).toMatchObject([{ project: null, supersedes }]);
  });

  test("must name an existing memory", async () => {
    const [ada, bob] = [await server.account(), await server.account()];
    const soon = new Date(server.clock() + 1_000).toISOString();
    const [expired, foreign] = [
      await ada.save({ content: "x", expires_at: soon }),
      await bob.save({ content: "x" }),
    ];
    server.clock.advance(1_000);
    for (const supersedes of [NOWHERE, expired.id, foreign.id]) {
      const answer = await ada.send("POST", "/memories", { json: { content: "y", supersedes } });
      expectError(answer, { status: 404, code: "memory_not_found" });
    }
    expect((await ada.list()).memories).toEqual([]);
    expect((await bob.list()).memories).toEqual([foreign]);
  });

  test("is refused for a superseded one, and the answer names the current one", async () => {
    const ada = await server.account();
    const [old, now] = await saveChain(ada, "a", "b");
    const json = { content: "c", supersedes: old?.id };
    const answer = await ada.send("POST", "/memories", { json });
    const message = expect.stringContaining(now?.id ?? "");
    const told = (path: string) => ({
      status: 409,
      body: { error: { code: "conflict", message, details: [{ path, message }] } },
    });
    expect(answer).toMatchObject(told("/supersedes"));
    const batch = await ada.send("POST", "/memories/batch", {
      json: { memories: [{ content: "d" }, json] },
    });
    expect(batch).toMatchObject(told("/memories/1/supersedes"));
    expect(await known(ada)).toEqual({ current: "b", links: ">b>a b>a>" });
  });

  test("may name a memory whose successor has expired, unless that has been superseded", async () => {
    const ada = await server.account();
    const soon = new Date(server.clock() + 1_000).toISOString();
    const [a, b] = [await ada.save({ content: "a" }), await ada.save({ content: "b" })];
    await ada.save({ content: "until soon", supersedes: a.id, expires_at: soon });
    const other = { content: "until soon", supersedes: b.id, expires_at: soon };
    const { id: supersedes } = await ada.save(other);
    await ada.save({ content: "c", supersedes });
    server.clock.advance(1_000);
    const now = await ada.save({ content: "d", supersedes: a.id });
    expect(await ada.get(a.id)).toMatchObject({ superseded_by: now.id });
    const json = { content: "e", supersedes: b.id };
    const refused = await ada.send("POST", "/memories", { json });
    expectError(refused, { status: 409, code: "conflict", path: "/supersedes" });
  });

  test("is the only one of many simultaneous ones", async () => {
    const ada = await server.account();
    const { id } = await ada.save({ content: "old" });
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        ada.send("POST", "/memories", { json: { content: `new ${n}`, supersedes: id } }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
    expect((await ada.list()).memories).toHaveLength(1);
  });

  test("is refused if two of a batch name the same memory", async () => {
    const ada = await server.account();
    const { id: supersedes } = await ada.save({ content: "old" });
    const memories = [
      { content: "a", supersedes },
      { content: "b", supersedes },
    ];
    const answer = await ada.send("POST", "/memories/batch", { json: { memories } });
    expectInvalid(answer, "/memories/1/supersedes");
    expect(contentsOf((await ada.list()).memories)).toEqual(["old"]);
  });

  test("needs the scope to change memories, over HTTP and MCP", async () => {
    const ada = await server.account();
    const { id: supersedes } = await ada.save({ content: "old" });
    const adder = await server.client(ada.accountId, ["memories:add"]);
    const json = { content: "new", supersedes };
    const memories = [json];
    for (const answer of [
      await adder.send("POST", "/memories", { json }),
      await adder.send("POST", "/memories/batch", { json: { memories } }),
    ]) {
      expectError(answer, { status: 403, code: "forbidden" });
    }
    await using agent = await connectHttp("v2 new", server.origin, {
      authorization: `Bearer ${adder.key}`,
    });
    const refused = await agent.call("save_memory", json);
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("scope") });
    expect(contentsOf((await ada.list()).memories)).toEqual(["old"]);
  });
});

describe("a history", () => {
  test("is listed from any of its memories, page by page", async () => {
    const ada = await server.account();
    const chain = await saveChain(ada, "a", "b", "c", "d");
    await saveChain(ada, "x", "y");
    for (const memory of chain) expect(await historyTexts(ada, memory)).toBe("d c b a");
    const [first] = chain;
    if (!first) throw new Error("nothing was saved");
    const page = await historyOf(ada, first, "?limit=3");
    expect(contentsOf(page.memories)).toEqual(["d", "c", "b"]);
    expect(page.next_cursor).toBe(first.id);
    const rest = await historyOf(ada, first, `?limit=3&cursor=${page.next_cursor}`);
    expect(contentsOf(rest.memories)).toEqual(["a"]);
    expect(rest.next_cursor).toBeNull();
    const lost = await ada.send("GET", `/memories/${first.id}/history?cursor=${NOWHERE}`);
    expectInvalid(lost, "/cursor");
  });

  test("of a missing memory or of another account is not found", async () => {
    const [ada, bob] = [await server.account(), await server.account()];
    const { id } = await bob.save({ content: "x" });
    for (const each of [id, NOWHERE, "mem_1"]) {
      const answer = await ada.send("GET", `/memories/${each}/history`);
      expectError(answer, { status: 404, code: "memory_not_found" });
    }
  });
});

describe("deleting", () => {
  test.each([
    ["a", { current: "d", links: ">d>c c>b> d>c>b" }],
    ["b", { current: "d", links: ">d>c c>a> d>c>a" }],
    ["d", { current: "c", links: ">c>b b>a> c>b>a" }],
  ])("%s of a history links the memories beside it", async (which, expected) => {
    const ada = await server.account();
    const chain = await saveChain(ada, "a", "b", "c", "d");
    const { id } = chain.find(({ content }) => content === which) ?? { id: "" };
    await ada.remove(id);
    expect(await known(ada)).toEqual(expected);
    const texts = await Promise.all(
      chain.filter((one) => one.id !== id).map((one) => historyTexts(ada, one)),
    );
    expect(new Set(texts)).toEqual(
      new Set(["d c b a".replace(which, "").replace("  ", " ").trim()]),
    );
  });

  test("by a filter relinks histories too, also when all are deleted", async () => {
    const ada = await server.account();
    const saved: Memory[] = [];
    for (const [content, tags] of [
      ["a", []],
      ["b", ["x"]],
      ["c", ["x"]],
      ["d", []],
      ["e", ["x"]],
    ] as const) {
      const supersedes = saved.at(-1)?.id ?? null;
      saved.push(await ada.save({ content, tags: [...tags], supersedes }));
    }
    expect(await ada.removeMatching({ tags: "x" })).toBe(3);
    expect(await known(ada)).toEqual({ current: "d", links: ">d>a d>a>" });
    const [a, , , d] = saved;
    await Promise.all([ada.remove(a?.id ?? ""), ada.remove(d?.id ?? "")]);
    expect(await known(ada)).toEqual({ current: "", links: "" });
  });

  test("with the history removes all of it and nothing else", async () => {
    const ada = await server.account();
    const chain = await saveChain(ada, "a", "b", "c");
    await saveChain(ada, "x", "y");
    const { id } = chain[1] ?? { id: "" };
    const answer = await ada.send("DELETE", `/memories/${id}?history=true`);
    expect(answer).toMatchObject({ status: 200, body: { id, deleted: true } });
    expect(await known(ada)).toEqual({ current: "y", links: ">y>x y>x>" });
  });

  test("while others are saved leaves links to existing memories only", async () => {
    const ada = await server.account();
    const chain = await saveChain(ada, "a", "b", "c", "d", "e", "f");
    const last = chain.at(-1)?.id ?? "";
    await Promise.all([
      ...chain.slice(0, 5).map(({ id }) => ada.send("DELETE", `/memories/${id}`)),
      ada.send("POST", "/memories", { json: { content: "g", supersedes: last } }),
    ]);
    expect(await known(ada)).toEqual({ current: "g", links: ">g>f g>f>" });
  });
});
