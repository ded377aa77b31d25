import { afterAll, describe, expect, test } from "bun:test";
import { type Client, createClient } from "../../src/clients/typescript/src/index.ts";
import { outcomeOf, rejectionOf } from "../support/outcome.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);

type Options = Partial<Parameters<typeof createClient>[0]>;

async function newClient(options: Options = {}): Promise<Client> {
  const { key } = await server.account();
  return createClient({ url: server.origin, key, ...options });
}

const contents = (memories: readonly { content: string }[]) =>
  memories.map(({ content }) => content);
const many = (count: number) =>
  Array.from({ length: count }, (_, number) => ({ content: `fact ${number}` }));

describe("the TypeScript client", () => {
  test("saves, finds, changes and deletes a memory", async () => {
    const client = await newClient();
    const saved = await client.save({ content: "Sam is allergic to peanuts", tags: ["food"] });
    expect(saved).toMatchObject({ tags: ["food"], importance: 0.5, project: null });
    const [found] = await client.search("peanuts", { tags: ["food", "drink"], limit: 3 });
    expect(found).toMatchObject({ id: saved.id, score: expect.any(Number) });
    expect(await client.get(saved.id)).toMatchObject({ content: saved.content });
    const changed = await client.update(saved.id, { content: "Sam likes peanuts" });
    expect(changed.content).toBe("Sam likes peanuts");
    expect((await client.stats()).memories).toBe(1);
    await client.delete(saved.id);
    expect(await rejectionOf(client.get(saved.id))).toMatchObject({
      ...{ name: "CtxdError", code: "memory_not_found", status: 404 },
    });
  });

  test("lists what could be tidied, applies a proposal, and undoes it", async () => {
    const client = await newClient();
    const expires_at = new Date(server.clock() + 86_400_000).toISOString();
    const saved = await client.save({ content: "The demo is frozen.", expires_at });
    const { kinds, groups } = await client.tidy({ kind: "expiring" });
    expect(kinds.expiring).toBe(1);
    const [group] = groups;
    expect(group?.memories).toMatchObject([{ id: saved.id }]);
    const chosen = [{ id: group?.id ?? "", action: "delete" as const }];
    expect(await client.applyTidy(chosen, { dry_run: true })).toMatchObject({
      ...{ deleted: 1, undo: null },
    });
    const { undo } = await client.applyTidy(chosen);
    expect((await client.tidy()).kinds.expiring).toBe(0);
    await client.undoTidy(undo ?? "");
    expect((await client.tidy()).kinds.expiring).toBe(1);
    expect(await rejectionOf(client.undoTidy(undo ?? ""))).toMatchObject({ name: "CtxdError" });
  });

  test("says what is wrong with which field", async () => {
    const client = await newClient();
    expect(await rejectionOf(client.save({ content: "  ", importance: 2 }))).toMatchObject({
      ...{ code: "validation_failed", status: 422 },
      details: expect.arrayContaining([{ path: "/importance", message: expect.any(String) }]),
    });
  });

  test("a change is refused where another one came between", async () => {
    const client = await newClient();
    const saved = await client.save({ content: "the door is green" });
    await expect(client.etag(saved)).toMatch(/^"/);
    const changed = await client.update(saved.id, { content: "it is red" }, { ifMatch: saved });
    const late = client.update(saved.id, { content: "it is blue" }, { ifMatch: saved });
    expect(await rejectionOf(late)).toMatchObject({ code: "precondition_failed" });
    const read = await client.get(saved.id);
    await client.update(saved.id, { pinned: true }, { ifMatch: client.etag(read) ?? "" });
    const unknown = client.update(saved.id, { pinned: false }, { ifMatch: { ...changed } });
    expect(await outcomeOf(unknown)).toThrow("Read the memory with get");
  });

  test("batches of long texts are within the limit of the server", async () => {
    const client = await newClient();
    const long = Array.from({ length: 140 }, (_, n) => ({ content: `${n} `.padEnd(32_768, "ä") }));
    expect(await client.saveAll(long)).toHaveLength(140);
  });

  test("lists all, page by page, and stops asking when its reader does", async () => {
    let requests = 0;
    const counting = (url: string, request: RequestInit) => {
      requests++;
      return fetch(url, request);
    };
    const client = await newClient({ fetch: counting });
    expect(await client.saveAll(many(520))).toHaveLength(520);
    expect(requests).toBe(3);
    const listed = await Array.fromAsync(client.list());
    expect(contents(listed)).toEqual(contents(many(520)).reverse());
    requests = 0;
    for await (const { content } of client.list()) if (content === "fact 450") break;
    expect(requests).toBe(1);
    const page = await client.listPage({ limit: 2 });
    expect(contents(page.memories)).toEqual(["fact 519", "fact 518"]);
    const next = await client.listPage({ limit: 1, cursor: page.next_cursor ?? "" });
    expect(contents(next.memories)).toEqual(["fact 517"]);
  });

  test("finds all about a person, and deletes it with a receipt", async () => {
    const client = await newClient();
    const [anna, city] = await client.saveAll([
      { content: "Anna Vidal lives in Porto", tags: ["people"] },
      { content: "The server is in Porto" },
    ]);
    const { memories, more } = await client.about("Anna Vidal");
    expect(memories[0]).toMatchObject({ id: anna?.id, found_by: "text", captured: false });
    expect(more).toBe(0);
    const ids = [anna?.id ?? "", `mem_${"0".repeat(32)}`];
    const receipt = await client.forget(ids, { about: "Anna Vidal" });
    expect(receipt).toMatchObject({ deleted: 1, about: "Anna Vidal", left_files_at: null });
    expect(JSON.stringify(await client.forget(ids))).not.toContain("Anna");
    expect(contents((await client.listPage()).memories)).toEqual([city?.content ?? ""]);
    expect(await rejectionOf(client.forget([]))).toMatchObject({ code: "validation_failed" });
  });

  test("a history is that of a fact, and is deleted as a whole", async () => {
    const client = await newClient();
    const first = await client.save({ content: "Ana lives in Porto" });
    const as_of = new Date(first.created_at);
    server.clock.advance(1);
    const second = await client.save({ content: "Ana lives in Lyon", supersedes: first.id });
    expect(contents(await client.history(first.id))).toEqual([second.content, first.content]);
    expect(contents(await client.history(second.id, { as_of }))).toEqual([first.content]);
    expect(contents(await client.search("Where does Ana live?", { as_of }))).toEqual([
      first.content,
    ]);
    expect(contents(await Array.fromAsync(client.list({ as_of })))).toEqual([first.content]);
    await client.delete(second.id, { history: true });
    expect(await client.listPage({ include_superseded: true })).toMatchObject({ memories: [] });
  });

  test("its project is that of every call that names no other", async () => {
    const { key } = await server.account();
    const all = createClient({ url: server.origin, key });
    const atlas = createClient({ url: server.origin, key, project: "atlas" });
    await atlas.save({ content: "of atlas" });
    await atlas.saveAll([
      { content: "of both", project: null },
      { content: "of zeus", project: "zeus" },
    ]);
    const listed = async (client: Client, options: Parameters<Client["list"]>[0] = {}) =>
      contents(await Array.fromAsync(client.list(options))).sort();
    expect(await listed(atlas)).toEqual(["of atlas", "of both"]);
    expect(await listed(atlas, { project_only: true })).toEqual(["of atlas"]);
    expect(await listed(atlas, { project: "zeus" })).toEqual(["of both", "of zeus"]);
    expect(await listed(atlas, { project: null })).toEqual(await listed(all));
    expect(contents(await Array.fromAsync(atlas.export()))).toEqual(["of atlas", "of both"]);
    expect(
      await atlas
        .deleteWhere({
          created_after: undefined,
          created_before: new Date(server.clock() + 1_000),
        } as never)
        .catch(String),
    ).toContain("created_after is empty");
    expect(await atlas.deleteWhere({ created_before: new Date(server.clock() + 1_000) })).toBe(1);
    expect(await listed(all)).toEqual(["of both", "of zeus"]);
  });

  test("deletes no more than was said", async () => {
    const client = await newClient({ project: "atlas" });
    await client.saveAll(many(3));
    for (const all of [{}, { project: null }, { tags_match: "all", project_only: false } as const])
      expect(await outcomeOf(client.deleteWhere(all))).toThrow("This filter matches all");
    const comma = client.deleteWhere({ tags: ["work,travel"] });
    expect(await rejectionOf(comma)).toMatchObject({ code: "validation_failed" });
    expect(await outcomeOf(client.deleteWhere({ tags: [] }))).toThrow("tags is empty");
    expect(await outcomeOf(client.deleteWhere({ project: "atlas", agent_id: undefined }))).toThrow(
      "agent_id is empty",
    );
    for (const id of ["", "..", "search", "export"]) {
      expect(await rejectionOf(client.delete(id))).toMatchObject({ code: "memory_not_found" });
    }
    expect((await client.stats()).memories).toBe(3);
  });
});
