import { expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createBackup } from "../../src/backup/create-backup.ts";
import { connectShared, openSharedSource } from "../../src/backup/shared/shared-source.ts";
import { readConfig } from "../../src/config/config.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { openData, restore } from "../support/live-data.ts";
import { until } from "../support/until.ts";

const BACKUPS = process.env.LONG ? 40 : 3;
const TIMEOUT = process.env.LONG ? 1_200_000 : 120_000;

/** Milliseconds between two writes of an account: each part of a backup takes longer. */
const PACE = 10;

/** The states of a memory in order; `null` when it was removed. */
interface History {
  states: (string | null)[];
  /** Index of the newest answered state. */
  answered: number;
}

/** Saves, changes and removes memories of an account on all replicas, until it is stopped. */
function startWriter(cluster: Cluster, key: string, history: Map<string, History>) {
  let isOver = false;
  let writes = 0;
  const client = () => cluster.client(writes % cluster.replicas.length, key);
  const change = async (id: string, state: string | null, work: () => Promise<unknown>) => {
    const known = history.get(id);
    known?.states.push(state);
    await work();
    if (known) known.answered = known.states.length - 1;
  };
  const write = async () => {
    const own: string[] = [];
    for (let count = 0; !isOver; count++) {
      const content = `memory ${count} of ${key.slice(-4)}\n\nwith a second passage`;
      const { id } = await client().save({ content });
      history.set(id, { states: [content], answered: 0 });
      own.push(id);
      const other = own[Math.floor(Math.random() * own.length)] ?? id;
      const changed = `${content}, changed`;
      if (count % 3 === 0) {
        await change(other, changed, () => client().update(other, { content: changed }));
      } else if (count % 3 === 1) {
        own.splice(own.indexOf(other), 1);
        await change(other, null, () => client().remove(other));
      }
      writes++;
      await Bun.sleep(PACE);
    }
  };
  const running = write();
  running.catch(() => {});
  return {
    writes: () => writes,
    async stop() {
      isOver = true;
      await running;
    },
  };
}

async function backUp(cluster: Cluster, folder: string): Promise<void> {
  const settings = { CTXD_DATABASE_URL: cluster.database.url, ...cluster.objects.settings() };
  const { shared } = readConfig(settings, {});
  if (!shared) throw new Error("there are settings");
  const dataDir = temporaryFolder();
  await createBackup({
    dataDir,
    folder,
    version: "1.0.0",
    clock: Date.now,
    lancedb: await loadLanceDb(testCacheDir),
    open: () => openSharedSource(connectShared(shared), dataDir),
  });
  expect(readdirSync(dataDir)).toEqual([]);
}

test(
  "backups during writes, flushes, replacements and sweeps contain every answered write",
  async () => {
    await using cluster = await startCluster({ replicas: 2 });
    const accounts = await Promise.all([1, 2, 3].map(() => cluster.addAccount()));
    const histories = accounts.map(() => new Map<string, History>());
    const writers = accounts.map(({ key }, index) =>
      startWriter(cluster, key, histories[index] ?? new Map()),
    );
    const place = temporaryFolder();
    mkdirSync(place, { recursive: true });
    const backups: { folder: string; allowed: Map<string, (string | null)[]>[] }[] = [];
    for (let number = 0; number < BACKUPS; number++) {
      const goals = writers.map(({ writes }) => writes() + 10);
      await until("more writes", () =>
        writers.every(({ writes }, index) => writes() >= (goals[index] ?? 0)),
      );
      const folder = join(place, `backup-${number}`);
      const before = histories.map((history) =>
        [...history].map(([id, { answered }]) => ({ id, answered })),
      );
      await backUp(cluster, folder);
      // Each memory has the newest state answered before the backup, or one requested since.
      const allowed = before.map(
        (each, index) =>
          new Map(
            each.map(({ id, answered }) => [
              id,
              histories[index]?.get(id)?.states.slice(answered) ?? [],
            ]),
          ),
      );
      backups.push({ folder, allowed });
    }
    await Promise.all(writers.map(({ stop }) => stop()));

    for (const { folder, allowed } of backups) {
      const target = `${folder}-restored`;
      await restore(folder, target);
      await using data = await openData(target);
      for (const [index, { accountId }] of accounts.entries()) {
        const found = new Map<string, string>();
        const pages = await Array.fromAsync(
          await data.memories.export(wholeAccount(accountId), {}),
        );
        for (const { id, content } of pages.flat()) {
          expect(found.has(id)).toBe(false);
          found.set(id, content);
        }
        for (const [id, states] of allowed[index] ?? []) {
          expect(states).toContain(found.get(id) ?? null);
        }
        for (const [id, content] of found) {
          expect(histories[index]?.get(id)?.states ?? []).toContain(content);
        }
        // The restored server can be written to and flushed.
        await data.memories.saveAll(wholeAccount(accountId), [{ content: "and goes on" }]);
      }
    }
  },
  TIMEOUT,
);
