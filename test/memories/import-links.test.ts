import { afterAll, expect, test } from "bun:test";
import type { Memory } from "../../src/memories/model/memory.ts";
import { type Client, contentsOf } from "../support/client.ts";
import { startServer } from "../support/server.ts";
import { exportMemories, importLines, newMemoryId } from "../support/transfer.ts";

const server = await startServer();
afterAll(server.close);

const importInto = async (client: Client, ...lines: object[]) => {
  const report = await importLines(client, ...lines);
  expect(report.invalid).toBe(0);
  return report;
};
const historyOf = async ({ send }: Client, id: string) => {
  const { body } = await send("GET", `/memories/${id}/history`);
  return contentsOf((body as { memories: Memory[] }).memories).join(" ");
};
const current = async (client: Client) =>
  contentsOf((await client.list()).memories)
    .toSorted()
    .join(" ");
const NOWHERE = newMemoryId();

/** Saves three versions of a fact, oldest first. */
async function saveThree(client: Client) {
  const saved: string[] = [];
  for (const content of ["a", "b", "c"]) {
    saved.push((await client.save({ content, supersedes: saved.at(-1) ?? null })).id);
    server.clock.advance(1);
  }
  const [a = "", b = "", c = ""] = saved;
  return { a, b, c };
}

test("exported histories are imported unchanged", async () => {
  const [ada, bob] = [await server.account(), await server.account()];
  const { a, b } = await saveThree(ada);
  await ada.save({ content: "other" });
  const lines = await exportMemories(server.origin, ada);
  expect(await importInto(bob, ...lines)).toMatchObject({ created: 4 });
  const without = ({ source: _, ...memory }: Memory) => memory;
  expect((await exportMemories(server.origin, bob)).map(without)).toEqual(lines.map(without));
  expect(await historyOf(bob, a)).toBe("c b a");
  expect(await current(bob)).toBe("c other");
  await bob.remove(b);
  expect(await historyOf(bob, a)).toBe("c a");
  // Importing the file again restores a deleted memory at its place.
  expect(await importInto(bob, ...lines)).toMatchObject({ created: 1, updated: 0 });
  expect(await historyOf(bob, a)).toBe("c b a");
  expect(await current(bob)).toBe("c other");
});

test("a line's `supersedes` takes the older memory out of lists, in any order of the lines", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "here" });
  const [b, c] = [newMemoryId(), newMemoryId()];
  await importInto(
    ada,
    { id: c, content: "c", supersedes: b },
    { id: b, content: "b", supersedes: id },
  );
  expect(await current(ada)).toBe("c");
  for (const each of [id, b, c]) expect(await historyOf(ada, each)).toBe("c b here");
});

test("a newer line that supersedes another memory or none makes the former one current again", async () => {
  const ada = await server.account();
  const { b, c } = await saveThree(ada);
  const line = await ada.get(c);
  const later = new Date(Date.parse(line.updated_at) + 1_000).toISOString();
  await importInto(ada, { ...line, supersedes: null, updated_at: later });
  expect(await current(ada)).toBe("b c");
  expect(await ada.get(b)).toMatchObject({ superseded_by: null });
});

test("a newer line without links leaves a memory superseded", async () => {
  const ada = await server.account();
  const { a, b } = await saveThree(ada);
  const line = { ...(await ada.get(a)), superseded_by: null, updated_at: "2099-01-01" };
  expect(await importInto(ada, line)).toMatchObject({ updated: 1 });
  expect(await ada.get(a)).toMatchObject({ superseded_by: b });
  expect(await current(ada)).toBe("c");
});

test("links to missing memories are kept and shown", async () => {
  const ada = await server.account();
  const [x, y] = [newMemoryId(), newMemoryId()];
  const links = { supersedes: NOWHERE, superseded_by: NOWHERE };
  await importInto(ada, { id: x, content: "x", ...links });
  expect(await ada.get(x)).toMatchObject(links);
  expect(await historyOf(ada, x)).toBe("x");
  const next = await ada.save({ content: "next", supersedes: x });
  expect(await historyOf(ada, x)).toBe("next x");
  await importInto(ada, { id: y, content: "y", supersedes: y, superseded_by: y });
  expect(await ada.get(y)).toMatchObject({ supersedes: null, superseded_by: null });
  await ada.remove(x);
  expect(await ada.get(next.id)).toMatchObject({ supersedes: NOWHERE });
});

test("lines that supersede each other have a finite history, and can be deleted", async () => {
  const ada = await server.account();
  const [x, y] = [newMemoryId(), newMemoryId()];
  const lines = [
    { id: x, content: "x", supersedes: y },
    { id: y, content: "y", supersedes: x },
  ];
  await importInto(ada, ...lines);
  expect(await historyOf(ada, x)).toBe("x y");
  expect(await current(ada)).toBe("x y");
  const [both] = lines.map((line) => ({ ...line, superseded_by: line.supersedes }));
  await importInto(ada, { ...both, updated_at: "2099-01-01" });
  await ada.remove(y);
  expect(await current(ada)).toBe("x");
  expect(await ada.get(x)).toMatchObject({ superseded_by: null });
});

test("a line does not take the place of a memory that supersedes the same one", async () => {
  const ada = await server.account();
  const { a, b } = await saveThree(ada);
  await importInto(ada, { content: "fork", supersedes: a });
  expect(await ada.get(a)).toMatchObject({ superseded_by: b });
  expect(await historyOf(ada, a)).toBe("c b a");
  expect(await current(ada)).toBe("c fork");
});
