import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer, Client } from "../support/client.ts";
import { type Cluster, type Replica, startCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { startLoad } from "./load.ts";

/** Duration of an outage in milliseconds. */
const OUTAGE_MS = process.env.LONG ? 30_000 : 1_500;
const TIMEOUT = 300_000;

function expectUnavailable(answer: Answer) {
  expect(answer).toMatchObject({ status: 503, body: { error: { code: "unavailable" } } });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
}

/** Sends a request to all replicas. */
function ofEach<Result>(
  { replicas, client }: Cluster,
  ask: (replica: Replica, clientOf: (key: string) => Client) => Promise<Result>,
) {
  return Promise.all(replicas.map((replica, index) => ask(replica, (key) => client(index, key))));
}

async function health({ origin }: Replica, path = "") {
  return (await fetch(`${origin()}/api/health${path}`)).status;
}

/** Saves until the request is answered, and finds the saved memory. */
async function untilItWrites(client: Client): Promise<void> {
  const content = `saved after the outage ${crypto.randomUUID()}`;
  const saved = await until("a write is answered", async () => {
    const answer = await client.send("POST", "/memories", { json: { content } });
    return answer.status === 201 ? (answer.body as { id: string }) : null;
  });
  expect((await client.get(saved.id)).content).toBe(content);
}

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ replicas: 2, stopsPostgres: true });
}, 120_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

test.each(["stopped", "hung"] as const)(
  "while PostgreSQL is %s all requests but liveness answer 503, and no write is lost",
  async (how) => {
    const { postgres } = cluster;
    const load = await startLoad(cluster, 1);
    const { key } = await cluster.addAccount();
    const saved = await cluster.client(0, key).save({ content: "saved before the outage" });
    await load.during(Bun.sleep(300));

    if (how === "stopped") await postgres.stop();
    else postgres.pause();
    const began = performance.now();
    const calls = [
      ["GET", `/memories/${saved.id}`],
      ["GET", "/memories/search?q=outage"],
      ["POST", "/memories", { content: "during the outage" }],
    ] as const;
    await ofEach(cluster, async (replica, client) => {
      const answers = calls.map(([method, path, json]) =>
        client(key).send(method, path, json ? { json } : {}),
      );
      for (const answer of await Promise.all(answers)) expectUnavailable(answer);
      expect(await health(replica)).toBe(503);
      expect(await health(replica, "/live")).toBe(200);
    });
    const starting = cluster.addReplica();
    starting.catch(() => {});
    await load.during(Bun.sleep(Math.max(0, OUTAGE_MS - (performance.now() - began))));

    if (how === "stopped") await postgres.start();
    else postgres.resume();
    const back = performance.now();
    await starting;
    await ofEach(cluster, async (replica, client) => {
      await untilItWrites(client(key));
      expect(await client(key).get(saved.id)).toEqual(saved);
      await until("it is ready", async () => (await health(replica)) === 200);
    });
    if (process.env.LONG) console.log(`${how}: back after ${performance.now() - back} ms`);
    await load.during(Bun.sleep(300));
    await load.check();
    await cluster.removeReplica(await starting);
  },
  TIMEOUT,
);

test.each(["stopped", "hung"] as const)(
  "while the object store is %s only accounts that are not open answer 503",
  async (how) => {
    const { objects } = cluster;
    const load = await startLoad(cluster, 1);
    const { accountId, key } = await cluster.addAccount();
    const open = cluster.client(0, key);
    const saved = await open.save({ content: "saved before the outage" });
    await until("its base is recorded", async () => {
      const query = `select 1 from checkpoints join heads using (name)
        where name = '${accountId}' and up_to = seq`;
      return (await cluster.postgres.execute(query, cluster.database.name)).length > 0;
    });

    if (how === "stopped") await objects.stop();
    else objects.pause();
    const began = performance.now();
    const during = await open.save({ content: "saved during the outage" });
    expect(await open.get(during.id)).toEqual(during);
    expect(await open.search("before the outage")).not.toEqual([]);
    const late = await cluster.addReplica();
    const cold = cluster.client(cluster.replicas.indexOf(late), key);
    expectUnavailable(await cold.send("GET", `/memories/${saved.id}`));
    expect(await health(late, "/live")).toBe(200);
    await load.during(Bun.sleep(Math.max(0, OUTAGE_MS - (performance.now() - began))));

    if (how === "stopped") await objects.start();
    else objects.resume();
    const back = performance.now();
    await untilItWrites(cold);
    expect(await cold.get(saved.id)).toEqual(saved);
    expect(await cold.get(during.id)).toEqual(during);
    if (process.env.LONG) console.log(`${how}: back after ${performance.now() - back} ms`);
    await load.check();
    await cluster.removeReplica(late);
  },
  TIMEOUT,
);

/** A disk of 24 MiB in memory. Only root can make one, as in CI. */
const disk = mkdtempSync(join(tmpdir(), "ctxd-disk-"));
const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk]).success;
afterAll(() => {
  if (mounted) Bun.spawnSync(["umount", "--lazy", disk]);
  rmSync(disk, { recursive: true, force: true });
});
if (!mounted) console.warn("skipped: a tmpfs can't be mounted here, which takes root");

/** Fills the disk to the last block. */
function fill() {
  const filler = join(disk, "filler");
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    try {
      while (statfsSync(disk).bfree > 0) writeFileSync(filler, new Uint8Array(size), { flag: "a" });
    } catch {}
  }
}

test.skipIf(!mounted)(
  "a replica with a full disk takes writes, and opens other accounts when there is space",
  async () => {
    const load = await startLoad(cluster, 1);
    const { key } = await cluster.addAccount();
    const saved = await cluster.client(0, key).save({ content: "saved before the disk was full" });
    mkdirSync(join(disk, "replica"));
    const full = await cluster.addReplica(join(disk, "replica"));
    const client = cluster.client(cluster.replicas.indexOf(full), key);
    expect(await client.get(saved.id)).toEqual(saved);
    const filling = setInterval(fill, 50);
    try {
      fill();
      for (let write = 0; write < 10; write++) {
        const made = await client.save({ content: `write ${write} beside a full disk` });
        expect(await client.get(made.id)).toEqual(made);
        expect(await cluster.client(1, key).get(made.id)).toEqual(made);
      }
      await load.during(Bun.sleep(OUTAGE_MS));
    } finally {
      clearInterval(filling);
      rmSync(join(disk, "filler"), { force: true });
    }
    await untilItWrites(client);
    expect(await client.get(saved.id)).toEqual(saved);
    await load.check();
    await cluster.removeReplica(full);
  },
  TIMEOUT,
);
