import { afterAll, expect, test } from "bun:test";
import { createRecall } from "../../src/capture/recall.ts";
import { createWorths, worthShift } from "../../src/capture/recall-worth.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { startServer } from "../support/server.ts";

const server = await startServer({ embedder: sharedEmbedder() });
afterAll(server.close);

test("what was found and then used gains a little, and what was recalled ten times in vain sinks", () => {
  const shift = (found: number, recalled: number, used: number) =>
    worthShift({ found, recalled, used });
  expect(shift(0, 0, 0)).toBe(0);
  expect(shift(1, 0, 1)).toBeCloseTo(0.15);
  expect(shift(1, 40, 1)).toBeCloseTo(0.15);
  expect(shift(9, 0, 1_000)).toBe(0.5);
  // Changed without being found.
  expect(shift(0, 0, 3)).toBe(0);
  expect(shift(0, 9, 0)).toBe(0);
  expect(shift(1, 50, 0)).toBe(0);
  expect(shift(0, 10, 0)).toBeCloseTo(-0.4);
  expect(shift(0, 20, 0)).toBeCloseTo(-0.8);
  expect(shift(0, 1_000, 0)).toBe(-1.5);
});

async function open() {
  const client = await server.account();
  const reach = wholeAccount(client.accountId);
  const { memories } = server;
  const byUse = createRecall({ memories, worthsOf: createWorths(server.uses) });
  const plain = createRecall({ memories });
  const request = { session: null, name: null, isFresh: true, budget: 4_000, explains: true };
  const asked = { ...request, project: "acme/atlas", prompt: null };
  const times = async (use: "recalled" | "found" | "changed", id: string, count: number) => {
    for (let time = 0; time < count; time++) server.uses.record(use, [client.accountId], [id]);
    await server.uses.flush();
  };
  return { ...client, reach, byUse, plain, asked, times };
}

test("a memory that was recalled in vain comes last at the beginning, and says why", async () => {
  const { saveAll, reach, byUse, plain, asked, times, search } = await open();
  const [old, vain] = await saveAll([
    { content: "Atlas runs on Debian.", project: "acme/atlas" },
    { content: "Atlas has a blue logo.", project: "acme/atlas", importance: 0.9 },
  ]);
  const order = async (recall: typeof byUse) => {
    const text = await recall.text(reach, asked);
    return [old, vain]
      .map((memory) => ({ id: memory?.id, at: text.indexOf(memory?.id ?? "?") }))
      .sort((a, b) => a.at - b.at)
      .map(({ id }) => id);
  };
  expect(await order(byUse)).toEqual([vain?.id, old?.id]);
  await times("recalled", vain?.id ?? "", 10);
  expect(await order(byUse)).toEqual([old?.id, vain?.id]);
  expect(await order(plain)).toEqual([vain?.id, old?.id]);
  expect(await byUse.text(reach, asked)).toContain("recalled 10 times, never used (−0.40)");
  expect(await plain.text(reach, asked)).not.toContain("never used");
  // A search finds it as before, and from then on it was of use.
  const found = await search("blue logo");
  expect(found[0]?.id).toBe(vain?.id);
  await server.uses.flush();
  expect(await order(byUse)).toEqual([vain?.id, old?.id]);
});

test("a memory that was of use is more likely to be recalled for a prompt", async () => {
  const { save, reach, byUse, asked, times } = await open();
  const { id } = await save({ content: "Atlas is deployed on Fridays.", project: "acme/atlas" });
  const prompt = { ...asked, prompt: "When is Atlas deployed?", session: null };
  const chance = async () => Number(/chance of (\d+) %/.exec(await byUse.text(reach, prompt))?.[1]);
  const before = await chance();
  await times("found", id, 1);
  await times("changed", id, 7);
  expect(await byUse.text(reach, prompt)).toContain("used 7 times (+0.45)");
  expect(await chance()).toBeGreaterThanOrEqual(before);
});

test("uses of another account count for nothing", async () => {
  const [ada, eve] = [await open(), await open()];
  const { id } = await ada.save({ content: "Atlas has a blue logo.", project: "acme/atlas" });
  await ada.times("recalled", id, 20);
  const worths = await createWorths(server.uses)(eve.reach, [id]);
  expect(worths.size).toBe(0);
});
