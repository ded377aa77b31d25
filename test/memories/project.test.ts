import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import type { Memory } from "../../src/memories/model/memory.ts";
import { idOf } from "../support/bases.ts";
import { type Client, contentsOf } from "../support/client.ts";
import { expectError } from "../support/errors.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { exportMemories, importLines } from "../support/transfer.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const UNKNOWN = "mem_00000000000000000000000000000000";

/** An account with memories of two projects and of none, and clients that are bound to the first project. */
async function withProjects() {
  const whole = await server.account();
  const { accountId } = whole;
  const [atlas, boreas, none] = [
    await whole.save({ content: "The lighthouse of atlas", project: "atlas" }),
    await whole.save({ content: "The lighthouse of boreas", project: "boreas" }),
    await whole.save({ content: "The lighthouse of all" }),
  ];
  const bound = await server.client(accountId, SCOPES, { project: "atlas", only: false });
  const only = await server.client(accountId, SCOPES, { project: "atlas", only: true });
  return { whole, accountId, atlas, boreas, none, bound, only };
}

const refused = { status: 403, code: "forbidden" } as const;

describe("a key that is bound to a project", () => {
  test("reads memories of its project and of none, or only of its project, with every call", async () => {
    const { bound, only, atlas, boreas, none } = await withProjects();
    for (const [client, known] of [
      [bound, [atlas, none]],
      [only, [atlas]],
    ] as const) {
      const contents = contentsOf(known).sort();
      expect(contentsOf((await client.list()).memories).sort()).toEqual(contents);
      for (const mode of ["hybrid", "keyword", "semantic"]) {
        expect(contentsOf(await client.search("lighthouse", { mode })).sort()).toEqual(contents);
      }
      expect(contentsOf(await exportMemories(server.origin, client)).sort()).toEqual(contents);
      const elsewhere = { project: "boreas", project_only: "true" };
      expect((await client.list(elsewhere)).memories).toEqual([]);
      expect(await client.search("lighthouse", elsewhere)).toEqual([]);
      const missing = await client.send("GET", `/memories/${UNKNOWN}`);
      for (const path of ["", "/history"]) {
        const answer = await client.send("GET", `/memories/${boreas.id}${path}`);
        expect(answer.status).toBe(missing.status);
        expect(JSON.stringify(answer.body)).toBe(
          JSON.stringify(missing.body).replace(UNKNOWN, boreas.id),
        );
      }
    }
    expect((await only.send("GET", `/memories/${none.id}`)).status).toBe(404);
  });

  test("saves to its project, and changes nothing else", async () => {
    const { whole, bound, only, atlas, boreas, none } = await withProjects();
    for (const client of [bound, only]) {
      const of = client === only ? "only" : "bound";
      expect(await client.save({ content: `new, ${of}` })).toMatchObject({ project: "atlas" });
      await client.save({ content: `also new, ${of}`, project: "atlas" });
      for (const project of ["boreas", null]) {
        const json = { content: "elsewhere", project };
        expectError(await client.send("POST", "/memories", { json }), refused);
        expectError(await client.send("PUT", `/memories/${atlas.id}`, { json }), refused);
        const move = { json: { project } };
        expectError(await client.send("POST", "/memories/move?tags=x", move), refused);
        const batch = { json: { memories: [{ content: "fine" }, json] } };
        expectError(await client.send("POST", "/memories/batch", batch), refused);
      }
      const json = { content: "overwritten" };
      expect((await client.send("PUT", `/memories/${boreas.id}`, { json })).status).toBe(404);
      expect((await client.send("DELETE", `/memories/${boreas.id}`)).status).toBe(404);
      const superseding = { json: { content: "x", supersedes: boreas.id } };
      expect((await client.send("POST", "/memories", superseding)).status).toBe(404);
      expect(await client.removeMatching({ project: "boreas" })).toBe(0);
    }
    expectError(await bound.send("PUT", `/memories/${none.id}`, { json: { tags: [] } }), refused);
    expectError(await bound.send("DELETE", `/memories/${none.id}`), refused);
    expect((await only.send("DELETE", `/memories/${none.id}`)).status).toBe(404);
    expect(await bound.removeMatching({ created_before: "2999-01-01" })).toBe(5);
    expect(contentsOf((await whole.list()).memories).sort()).toEqual(
      contentsOf([boreas, none]).sort(),
    );
  });

  test("learns nothing of other projects from statistics, hints and idempotency keys", async () => {
    const { whole, bound, only } = await withProjects();
    expect((await bound.send("GET", "/stats")).body).toMatchObject({
      memories: 2,
      bytes: null,
      projects: [
        { project: null, memories: 1 },
        { project: "atlas", memories: 1 },
      ],
    });
    expect((await only.send("GET", "/stats")).body).toMatchObject({
      memories: 1,
      projects: [{ project: "atlas", memories: 1 }],
    });
    const twin = { json: { content: "The lighthouse of boreas" } };
    const saved = await only.send("POST", "/memories?similar=true", twin);
    const { similar } = saved.body as { similar: { id: string }[] };
    for (const { id } of similar) expect((await only.get(id)).project).toBe("atlas");

    const headers = { "idempotency-key": "k" };
    const first = await whole.save({ content: "once" }, headers);
    const own = await bound.save({ content: "once" }, headers);
    expect(own.id).not.toBe(first.id);
    expect((await bound.save({ content: "once" }, headers)).id).toBe(own.id);
    const other = { json: { content: "other" }, headers };
    expect((await only.send("POST", "/memories", other)).status).toBe(201);
  });

  test("imports only lines of its project, and learns nothing of others from them", async () => {
    const { whole, bound, atlas, boreas, none } = await withProjects();
    const later = "2999-01-01T00:00:00.000Z";
    const report = await importLines(
      bound,
      { content: "without a project" },
      { content: "of boreas", project: "boreas" },
      { content: "of none", project: null },
      { ...boreas, content: "over boreas", project: "atlas", updated_at: later },
      { id: none.id, content: "over none", updated_at: later },
      { id: UNKNOWN, content: "of nobody", updated_at: later },
      { ...atlas, content: "over atlas", updated_at: later },
    );
    expect(report).toMatchObject({ created: 4, updated: 1, invalid: 2 });
    expect(await whole.get(boreas.id)).toEqual(boreas);
    expect(await whole.get(none.id)).toEqual(none);
    expect((await whole.get(atlas.id)).content).toBe("over atlas");
    for (const id of [boreas.id, UNKNOWN]) {
      expect((await bound.send("GET", `/memories/${id}`)).status).toBe(404);
    }
    const again = await importLines(
      bound,
      ...[{ ...boreas, content: "over boreas", project: "atlas", updated_at: later }],
      ...(await exportMemories(server.origin, bound)).filter(({ project }) => project !== null),
    );
    expect(again).toMatchObject({ created: 0, updated: 0, unchanged: 6, invalid: 0 });
  });

  test("imports a history unchanged, under ids of its own", async () => {
    const { bound, boreas } = await withProjects();
    const old = { id: boreas.id, content: "was", superseded_by: UNKNOWN };
    await importLines(bound, old, { id: UNKNOWN, content: "is", supersedes: boreas.id });
    const found = (await bound.list({ include_superseded: "true" })).memories;
    const [was, is] = ["was", "is"].map((text) => found.find(({ content }) => content === text));
    expect(was?.superseded_by).toBe(is?.id ?? "");
    expect(is?.supersedes).toBe(was?.id ?? "");
  });

  test("reads only the memories of a history that belong to its project", async () => {
    const { whole, bound, atlas } = await withProjects();
    let newest = atlas;
    for (const project of ["boreas", "boreas", "atlas", "boreas"]) {
      newest = await whole.save({ content: `in ${project}`, project, supersedes: newest.id });
    }
    const pageOf = async (query: string) =>
      (await bound.send("GET", `/memories/${atlas.id}/history?limit=1${query}`)).body as {
        memories: Memory[];
        next_cursor: string | null;
      };
    const first = await pageOf("");
    expect(contentsOf(first.memories)).toEqual(["in atlas"]);
    const last = await pageOf(`&cursor=${first.next_cursor}`);
    expect(last).toMatchObject({ memories: [{ id: atlas.id }], next_cursor: null });
    const inProject = async (project: string) =>
      (await whole.list({ project, project_only: "true", include_superseded: "true" })).memories;
    const before = await inProject("boreas");
    const removed = await bound.send("DELETE", `/memories/${atlas.id}?history=true`);
    expect(removed.status).toBe(200);
    expect(await inProject("boreas")).toEqual(before);
    expect(await inProject("atlas")).toEqual([]);
  });

  test("exports no memory that leaves the project meanwhile", async () => {
    const { whole, accountId } = await withProjects();
    const many = Array.from({ length: 300 }, (_, index) => ({ content: `one of ${index}` }));
    for (const half of [many.slice(0, 150), many.slice(150)]) {
      await whole.saveAll(half.map((memory) => ({ ...memory, project: "atlas" })));
    }
    const reach = { accountId, bound: { project: "atlas", only: true } };
    const pages = await server.memories.export(reach, {});
    const first = await pages.next();
    expect(first.value?.length).toBeGreaterThan(0);
    await server.memories.move(wholeAccount(accountId), { projects: ["atlas"] }, "boreas");
    for await (const page of pages) expect(page).toEqual([]);
  });

  test("reads no metrics, even the owner's", async () => {
    await server.account();
    const { id = "" } = (await server.accounts.findOwner()) ?? {};
    const statusOf = async ({ key }: Client) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${server.origin}/api/metrics`, { headers })).status;
    };
    expect(await statusOf(await server.client(id))).toBe(200);
    const bound = { project: "atlas", only: false };
    expect(await statusOf(await server.client(id, SCOPES, bound))).toBe(403);
  });
});

describe("moving memories", () => {
  const move = async (client: Client, query: string, project: string | null) =>
    (await client.send("POST", `/memories/move?${query}`, { json: { project } })).body;

  test("moves the memories that match a filter, and keeps their times", async () => {
    const { whole, atlas, boreas, none } = await withProjects();
    const [tagged] = await whole.saveAll([{ content: "tagged", tags: ["x"], project: "atlas" }]);
    server.clock.advance(1_000);
    expect(await move(whole, "project=atlas", "boreas")).toEqual({ moved: 2 });
    expect(await whole.get(atlas.id)).toEqual({ ...atlas, project: "boreas" });
    expect(await whole.get(none.id)).toEqual(none);
    const ofBoreas = { project: "boreas", project_only: "true" };
    expect(await whole.search("lighthouse", ofBoreas)).toHaveLength(3);
    expect(await move(whole, "tags=x", null)).toEqual({ moved: 1 });
    expect(await whole.get(tagged?.id ?? "")).toMatchObject({ project: null });
    expect(await move(whole, "project_only=true", "all of none")).toEqual({ moved: 2 });
    expect(await whole.get(none.id)).toMatchObject({ project: "all of none" });
    expect(await move(whole, "project=boreas", "boreas")).toEqual({ moved: 0 });
    expect(await whole.get(boreas.id)).toEqual(boreas);
    expect((await whole.send("GET", "/stats")).body).toMatchObject({
      projects: [
        { project: "all of none", memories: 2 },
        { project: "boreas", memories: 2 },
      ],
    });
  });

  test("moves more than one batch, and superseded memories too", async () => {
    const whole = await server.account();
    const saved = await whole.saveAll(
      Array.from({ length: 200 }, (_, index) => ({ content: `number ${index}` })),
    );
    await whole.save({ content: "newer", supersedes: saved[0]?.id ?? "" });
    expect(await move(whole, "project_only=true", "atlas")).toEqual({ moved: 201 });
    const stats = (await whole.send("GET", "/stats")).body;
    expect(stats).toMatchObject({ projects: [{ project: "atlas", memories: 201 }] });
  });

  test("commits long texts in small parts, so that others' saves get in between", async () => {
    const written: number[] = [];
    await using server = await startServer({
      wrapLog: (log) => ({
        ...log,
        append(table, entry) {
          written.push(entry.written?.length ?? 0);
          return log.append(table, entry);
        },
      }),
    });
    const whole = await server.account();
    await whole.saveAll(
      Array.from({ length: 40 }, (_, n) => ({ content: `${n} `.repeat(16_000).slice(0, 32_000) })),
    );
    written.length = 0;
    expect(await move(whole, "project_only=true", "atlas")).toEqual({ moved: 40 });
    expect(written).toHaveLength(14);
    expect(Math.max(...written)).toBeLessThan(1 << 19);
  });

  test("commits a long history in parts; after a failure the same request moves the rest", async () => {
    let appends = Number.POSITIVE_INFINITY;
    await using server = await startServer({
      wrapLog: (log) => ({
        ...log,
        append(table, entry) {
          if (appends-- <= 0) throw new Error("the disk reports an error");
          return log.append(table, entry);
        },
      }),
    });
    const whole = await server.account();
    const lines = Array.from({ length: 300 }, (_, n) => ({
      ...{ id: idOf(n), content: `The meeting is in room ${n}.` },
      ...(n > 0 && { supersedes: idOf(n - 1) }),
      ...(n === 150 && { tags: ["x"] }),
    }));
    expect(await importLines(whole, ...lines)).toMatchObject({ created: 300 });
    appends = 2;
    const failed = await whole.send("POST", "/memories/move?tags=x", {
      json: { project: "atlas" },
    });
    expectError(failed, { status: 503, code: "unavailable" });
    appends = Number.POSITIVE_INFINITY;
    const { body } = await whole.send("GET", "/stats");
    const projects = [
      { memories: 256, project: "atlas" },
      { memories: 44, project: null },
    ];
    expect(body).toMatchObject({ projects });
    expect(await move(whole, "tags=x", "atlas")).toEqual({ moved: 44 });
  });

  test("moves a whole history, as far as the key may change it", async () => {
    const { whole, bound, atlas } = await withProjects();
    const tagged = await whole.save({ content: "is", tags: ["x"], supersedes: atlas.id });
    const last = await whole.save({ content: "will be", supersedes: tagged.id });
    expect(await move(whole, "tags=x", "boreas")).toEqual({ moved: 3 });
    for (const { id } of [atlas, tagged, last]) {
      expect(await whole.get(id)).toMatchObject({ project: "boreas" });
    }
    await whole.update(last.id, { project: "atlas", tags: ["y"] });
    expect(await move(bound, "tags=y", "atlas")).toEqual({ moved: 0 });
    expect(await whole.get(tagged.id)).toMatchObject({ project: "boreas" });
    expect((await whole.get(last.id)).supersedes).toBe(tagged.id);
  });

  test.each([
    ["", { project: "atlas" }, "Moving everything at once"],
    ["tags=x", {}, "project"],
    ["tags=x", { project: "" }, "project"],
    ["tags=x", { project: "a", tags: [] }, "unknown field"],
    ["limit=1", { project: "a" }, "unknown field"],
  ])("is refused with %j and %j", async (query, json, message) => {
    const { send } = await server.account();
    const answer = await send("POST", `/memories/move?${query}`, { json });
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toContain(message);
  });

  test("needs the scope to change memories", async () => {
    const { accountId } = await server.account();
    for (const scope of ["memories:read", "memories:add"] as const) {
      const { send } = await server.client(accountId, [scope]);
      const answer = await send("POST", "/memories/move?tags=x", { json: { project: "a" } });
      expectError(answer, refused);
    }
  });
});

test("a deletion by project keeps memories of no project, and can delete only those", async () => {
  const { whole, atlas, boreas, none } = await withProjects();
  expect(await whole.removeMatching({ project: "atlas" })).toBe(1);
  const left = async () => (await whole.list()).memories.map(({ id }) => id).sort();
  expect(await left()).toEqual([boreas.id, none.id].sort());
  expect(await whole.removeMatching({ project_only: "true" })).toBe(1);
  expect(await left()).toEqual([boreas.id]);
  expect(atlas.project).toBe("atlas");
});
