import { expect, test } from "bun:test";
import { type Client, contentsOf } from "../support/client.ts";
import { startCluster } from "../support/cluster.ts";

const MINE = { session_id: "shared", tags: ["shared"] };

/** What an account sees by every way of reading. */
async function seenBy(client: Client): Promise<string[]> {
  const listed = (await client.list({ limit: 100 })).memories;
  const found = await Promise.all(
    ["keyword", "semantic", "hybrid"].map((mode) =>
      client.search("shared words", { mode, limit: 100 }),
    ),
  );
  return [...new Set(contentsOf([...listed, ...found.flat()]))].sort();
}

test("accounts side by side see nothing of each other by any replica", async () => {
  await using cluster = await startCluster();
  const accounts = await Promise.all(Array.from({ length: 3 }, () => cluster.addAccount()));
  const owned = accounts.map(() => [] as { id: string; content: string }[]);
  await Promise.all(
    accounts.map(async ({ key }, account) => {
      for (let round = 0; round < 12; round++) {
        const client = cluster.client(round % cluster.replicas.length, key);
        const content = `shared words of account ${account}, number ${round}`;
        owned[account]?.push(await client.save({ ...MINE, content }));
      }
    }),
  );
  for (const [account, { key }] of accounts.entries()) {
    const own = owned[account] ?? [];
    const foreign = owned.filter((_, other) => other !== account).flat();
    for (const replica of cluster.replicas.keys()) {
      const client = cluster.client(replica, key);
      expect(await seenBy(client)).toEqual(own.map(({ content }) => content).sort());
      for (const { id } of foreign) {
        const path = `/memories/${id}`;
        expect((await client.send("GET", path)).status).toBe(404);
        expect((await client.send("PUT", path, { json: { content: "mine" } })).status).toBe(404);
        expect((await client.send("DELETE", path)).status).toBe(404);
      }
    }
  }
  const [first, second] = accounts;
  const { length } = owned[0] ?? [];
  expect(await cluster.client(1, first?.key ?? "").removeMatching({ tags: "shared" })).toBe(length);
  expect(await seenBy(cluster.client(2, first?.key ?? ""))).toEqual([]);
  expect(await seenBy(cluster.client(0, second?.key ?? ""))).toHaveLength(owned[1]?.length ?? 0);
});
