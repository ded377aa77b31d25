import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import { type Balancer, startBalancer } from "../support/balancer.ts";
import { startObjectStore } from "../support/object-store.ts";
import { openPostgres } from "../support/open-postgres.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { type ServerKind, spawnServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { writeWordModel } from "../support/word-model.ts";

const LANES = 3;
/** Milliseconds between two rounds of a client: a replica takes much longer to end. */
const PACE = 20;
/** The servers that replace the old ones, in order. */
const KINDS: ServerKind[] = process.env.LONG
  ? ["real", "real", "next", "real", "next", "next"]
  : ["real", "next"];

async function addAccount(url: string) {
  const db = await openPostgres(url, { sessions: 1 });
  const stores = { db, clock: Date.now };
  const { id } = await createAccounts(stores).add({ email: "you@example.com", password: null });
  const { key } = await createKeys(stores).create(id, {
    name: "test",
    scopes: SCOPES,
    expiresAt: null,
  });
  await db.close();
  return key;
}

/** Clients of one account that save, read, change, search and delete, and repeat a request only after 503. */
function startLoad(balancer: Balancer, key: string) {
  const counts = { answered: 0, retried: 0 };
  const kept = new Set<string>();
  const failures: string[] = [];
  let isOver = false;

  const send = async (method: string, path: string, json?: object) => {
    const idempotency = method === "POST" ? { "idempotency-key": crypto.randomUUID() } : {};
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    return await until(`an answer of ${method} ${path} that is not 503`, async () => {
      const response = await fetch(`${balancer.next()}/api${path}`, {
        method,
        headers: { ...headers, ...idempotency },
        body: json ? JSON.stringify(json) : null,
      });
      const body: { id?: string; content?: string } = Object(await response.json());
      if (response.status !== 503) {
        counts.answered++;
        if (!response.ok) failures.push(`${method} ${path}: ${response.status}`);
        return body;
      }
      counts.retried++;
      return null;
    });
  };

  const lane = async (number: number) => {
    for (let round = 0; !isOver && failures.length === 0; round++, await Bun.sleep(PACE)) {
      try {
        const { id } = await send("POST", "/memories", { content: `${round} of lane ${number}` });
        const path = `/memories/${id}`;
        const changed = { content: `${round} of lane ${number}, changed` };
        await send("PUT", path, changed);
        const { content } = await send("GET", path);
        if (content !== changed.content) failures.push(`${path} is ${content}`);
        await send("GET", `/memories/search?q=lane+${number}&mode=keyword`);
        if (round % 3 === 0) await send("DELETE", path);
        else if (id !== undefined) kept.add(id);
      } catch (error) {
        failures.push(String(error));
      }
    }
  };
  const lanes = Array.from({ length: LANES }, (_, number) => lane(number));

  return {
    counts,
    failures,
    /** Resolves after so many more answers. */
    answers(more: number): Promise<true> {
      const goal = counts.answered + more;
      return until("more answers", () => {
        if (failures.length > 0) throw new Error(failures.join("\n"));
        return counts.answered >= goal;
      });
    },
    /** Ends the clients, and returns the ids of the memories that must exist. */
    async end(): Promise<string[]> {
      isOver = true;
      await Promise.all(lanes);
      return [...kept].toSorted();
    },
  };
}

test("no request fails while two replicas are replaced, also by a newer version", async () => {
  const root = mkdtempSync(join(tmpdir(), "ctxd-cluster-"));
  await using database = await (await sharedPostgres()).database();
  await using objects = await startObjectStore();
  using balancer = startBalancer();
  await using servers = new AsyncDisposableStack();
  // Starts more quickly than the built-in model.
  const model = join(root, "model");
  await writeWordModel(model);
  let folders = 0;
  const start = async (kind: ServerKind) => {
    const server = servers.use(
      spawnServer(join(root, String(++folders)), kind, {
        CTXD_DATABASE_URL: database.url,
        ...objects.settings(),
        CTXD_MODEL: model,
        CTXD_DRAIN_SECONDS: "1",
        CTXD_RATE_LIMIT: "off",
        CTXD_LOG_LEVEL: "info",
      }),
    );
    const origin = (await server.origin()).replace("localhost", "127.0.0.1");
    await balancer.add(origin);
    return { server, origin };
  };

  const running = [await start("real"), await start("real")];
  const key = await addAccount(database.url);
  const load = startLoad(balancer, key);
  await load.answers(50);

  for (const kind of KINDS) {
    const [old] = running.splice(0, 1);
    if (!old) throw new Error("nothing runs");
    running.push(await start(kind));
    await load.answers(20);
    const ended = old.server.end();
    // The replica reports at once that it is not ready, and still answers clients that do not know yet.
    await until("a replica that is not ready", () => !balancer.isReady(old.origin));
    expect((await fetch(`${old.origin}/api/health/live`)).status).toBe(200);
    expect(await ended).toBe(0);
    balancer.remove(old.origin);
    await load.answers(20);
  }

  const kept = await load.end();
  expect(load.failures).toEqual([]);
  const exported = await fetch(`${balancer.next()}/api/memories/export`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const ids = (await exported.text())
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).id);
  expect(ids.toSorted()).toEqual(kept);
  rmSync(root, { recursive: true });
}, 240_000);
