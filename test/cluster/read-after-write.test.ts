import { expect, test } from "bun:test";
import { type Client, contentsOf } from "../support/client.ts";
import { startCluster } from "../support/cluster.ts";
import { createRandom, type Random } from "../support/random.ts";

const READS = 1_000;
const LANES = 4;

/** Writes by one replica, and reads by another as soon as that is answered. */
async function writeAndRead(writing: Client, reading: Client, random: Random): Promise<void> {
  const word = random.word();
  const session = random.word();
  const saved = await writing.save({ content: `${word} as it was`, session_id: session });
  expect(await reading.get(saved.id)).toEqual(saved);

  const changed = await writing.update(saved.id, { content: `${word} as it is` });
  const found = await reading.search(word, { mode: "keyword", session_id: session });
  expect(contentsOf(found)).toEqual([changed.content]);

  // And the other way round.
  await reading.remove(saved.id);
  expect((await writing.list({ session_id: session })).memories).toEqual([]);

  const batch = Array.from({ length: 3 }, () => ({ content: random.word(), session_id: session }));
  const memories = await reading.saveAll(batch);
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
  const listed = (await writing.list({ session_id: session })).memories;
  expect(listed.toSorted(byId)).toEqual(memories.toSorted(byId));
}

test("of 1,000 reads right after a write by another replica none is stale", async () => {
  await using cluster = await startCluster();
  const { key } = await cluster.addAccount();
  const random = createRandom(1);
  const lane = async (_: unknown, start: number) => {
    for (let round = 0; round < READS / 4 / LANES; round++) {
      const from = (start + round) % cluster.replicas.length;
      const to = (from + 1 + (round % (cluster.replicas.length - 1))) % cluster.replicas.length;
      await writeAndRead(cluster.client(from, key), cluster.client(to, key), random);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
});
