import { afterAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { startServer } from "../support/server.ts";

const server = await startServer({ embedder: sharedEmbedder() });
afterAll(server.close);

const HOUR = 3_600_000;

test("memories near in meaning are found, nearest first", async () => {
  const ada = await server.account();
  const reach = wholeAccount(ada.accountId);
  const other = await server.account();
  await other.save({ content: "Sam likes green tea in the morning" });
  const { id } = await ada.save({ content: "Sam likes green tea" });
  expect(await server.memories.near(reach, id)).toEqual([]);
  const same = await ada.save({ content: "Sam likes green tea.", project: "atlas" });
  const milk = await ada.save({ content: "Sam drinks green tea without milk" });
  const newer = await ada.save({
    content: "Sam drinks green tea with oat milk",
    supersedes: milk.id,
  });
  // About the same subject, and no more than that.
  await ada.save({ content: "Ada takes oat milk in coffee" });
  const index = await ada.save({ content: "The index on customer_id was added in migration 0147" });
  const near = await server.memories.near(reach, id);
  expect(near.map(({ memory }) => memory.id)).toEqual([same.id, newer.id]);
  expect(near[0]?.score).toBeGreaterThan(0.9);
  expect(near[1]?.score).toBeWithin(0.6, 0.9);
  expect(await server.memories.near(reach, index.id)).toEqual([]);
  const bound = { accountId: ada.accountId, bound: { project: "boreas", only: false } };
  const reached = await server.memories.near(bound, id);
  expect(reached.map(({ memory }) => memory.id)).toEqual([newer.id]);
});

test("the memories around one in its session are listed by time", async () => {
  const ada = await server.account();
  const reach = wholeAccount(ada.accountId);
  const ids: string[] = [];
  for (let turn = 0; turn < 9; turn++) {
    const { id } = await ada.save({
      content: `Turn ${turn} of the talk about lamp ${turn}`,
      session_id: "s-1",
      ...(turn === 6 && { project: "atlas" }),
    });
    ids.push(id);
    await ada.save({ content: `Something else ${turn}`, session_id: "s-2" });
    // Two at the same time, then hours and days apart.
    server.clock.advance(turn === 3 ? 0 : turn < 6 ? HOUR / 10 : 40 * HOUR);
  }
  const around = async (id: string, project?: string) => {
    const bound = project === undefined ? null : { project, only: false };
    const found = await server.memories.inSession({ ...reach, bound }, id, 2);
    const places = (memories: { id: string }[]) => memories.map((each) => ids.indexOf(each.id));
    return [places(found.before), places(found.after)];
  };
  expect(await around(ids[0] ?? "")).toEqual([[], [1, 2]]);
  expect(await around(ids[3] ?? "")).toEqual([
    [1, 2],
    [4, 5],
  ]);
  expect(await around(ids[4] ?? "")).toEqual([
    [2, 3],
    [5, 6],
  ]);
  expect(await around(ids[5] ?? "", "boreas")).toEqual([
    [3, 4],
    [7, 8],
  ]);
  expect(await around(ids[7] ?? "")).toEqual([[5, 6], [8]]);
  const { id } = await ada.save({ content: "On its own" });
  expect(await around(id)).toEqual([[], []]);
  expect(await around("mem_none")).toEqual([[], []]);
});
