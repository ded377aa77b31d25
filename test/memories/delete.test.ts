import { afterAll, expect, test } from "bun:test";
import { contentsOf } from "../support/client.ts";
import { expectError, expectInvalid } from "../support/errors.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);

const HOUR = 3_600_000;

test("a deleted memory is missing from the next request on", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "zeppelin", tags: ["a"] });
  const kept = await ada.save({ content: "bystander", tags: ["a"] });
  const answer = await ada.send("DELETE", `/memories/${id}`);
  expect(answer).toMatchObject({ status: 200, body: { id, deleted: true } });
  for (const mode of ["hybrid", "semantic", "keyword"]) {
    const found = await ada.search("zeppelin", { mode, tags: "a" });
    expect(found.map((memory) => memory.id)).not.toContain(id);
  }
  expect((await ada.list()).memories).toEqual([kept]);
  for (const [method, json] of [["GET"], ["PUT", { importance: 1 }], ["DELETE"]] as const) {
    const again = await ada.send(method, `/memories/${id}`, { json });
    expectError(again, { status: 404, code: "memory_not_found" });
  }
});

test("of simultaneous deletions of a memory one succeeds", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "x" });
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => ada.send("DELETE", `/memories/${id}`)),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404, 404]);
});

test("deleting by filter removes and counts the matching memories only", async () => {
  const ada = await server.account();
  const start = server.clock();
  const at = (hours: number) => new Date(start + hours * HOUR).toISOString();
  const cases: [Record<string, string>, string][] = [
    [{ tags: "x" }, "bc"],
    [{ tags: "x,y" }, "c"],
    [{ tags: "x,y", tags_match: "all" }, "bc"],
    [{ tags: "none" }, "abc"],
    [{ agent_id: "one" }, "c"],
    [{ agent_id: "one", tags: "x" }, "bc"],
    [{ session_id: "s" }, "ab"],
    [{ created_before: at(1) }, "bc"],
    [{ created_before: at(2), agent_id: "one" }, "c"],
    [{ created_before: "9999-01-01" }, ""],
  ];
  for (const [query, left] of cases) {
    server.clock.advance(start - server.clock());
    await ada.save({ content: "a\n\nin two passages", tags: ["x", "y"], agent_id: "one" });
    server.clock.advance(HOUR);
    await ada.save({ content: "b", tags: ["y"], agent_id: "one" });
    server.clock.advance(HOUR);
    await ada.save({ content: "c", session_id: "s" });
    const deleted = await ada.removeMatching(query);
    const contents = contentsOf((await ada.list()).memories).map((content) => content[0]);
    expect({ query, deleted, left: contents.toSorted().join("") }).toEqual({
      query,
      deleted: 3 - left.length,
      left,
    });
    const found = await ada.search("two passages a b c", { mode: "semantic" });
    expect(found).toHaveLength(left.length);
    await ada.removeMatching({ created_before: "9999-01-01" });
  }
});

test("a deletion without a filter is refused", async () => {
  const ada = await server.account();
  await ada.save({ content: "x" });
  for (const query of ["", "?", "?tags_match=all"]) {
    const answer = await ada.send("DELETE", `/memories${query}`);
    expect(answer).toMatchObject({ status: 422, body: { error: { code: "validation_failed" } } });
  }
  for (const [path, query] of [
    ["/tags", "tags="],
    ["/agent_id", "agent_id="],
    ["/created_before", "created_before="],
    ["", "created_after=2020-01-01"],
    ["", "q=x"],
    ["", "tag=x"],
    ["", "agent_id=x&limit=1"],
  ] as const) {
    expectInvalid(await ada.send("DELETE", `/memories?${query}`), path);
  }
  expect((await ada.list()).memories).toHaveLength(1);
});
