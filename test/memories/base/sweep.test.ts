import { afterAll, beforeAll, expect, test } from "bun:test";
import { basename, join } from "node:path";
import { createBaseCache } from "../../../src/memories/base/base-cache.ts";
import { createObjectVault } from "../../../src/memories/base/object-vault.ts";
import { createSweep, startSweep } from "../../../src/memories/base/sweep.ts";
import { createObjects, type Objects } from "../../../src/objects/objects.ts";
import { createTestRecords } from "../../support/base-records.ts";
import { temporaryFolder } from "../../support/database.ts";
import { silentLog } from "../../support/embedder.ts";
import { type ObjectStore, startObjectStore } from "../../support/object-store.ts";
import { outcomeOf } from "../../support/outcome.ts";
import { WHOLE, writeBase } from "./vault-contract.ts";

const FILES = Object.keys(WHOLE);

let store: ObjectStore;
beforeAll(async () => {
  store = await startObjectStore();
});
afterAll(() => store.end());

/** Replicas over one database and one bucket. */
function createCluster() {
  const records = createTestRecords();
  const objects = createObjects(store.place(basename(temporaryFolder())));
  const replica = (through: Objects = objects) => {
    const folder = join(temporaryFolder(), "memories");
    const cache = createBaseCache({ folder, limit: 1 << 30, grace: -1 });
    const parts = { objects: through, records, cache };
    const vault = createObjectVault(parts);
    const write = async (base: string) => {
      writeBase(folder, base);
      await vault.keep(base, FILES);
    };
    return { folder, cache, vault, write, sweep: createSweep(parts) };
  };
  const bases = async () => (await Array.fromAsync(objects.folders())).flat();
  return { records, objects, replica, bases };
}

test("bases whose place others have taken go, and those in use stay", async () => {
  const { records, replica, bases } = createCluster();
  const { write, sweep } = replica();
  for (const base of ["a.1", "a.2", "b.1", "c.1"]) await write(base);
  records.record("a.1");
  records.record("a.2", "a.1");
  records.record("b.1");
  expect(await sweep.recorded()).toBe(1);
  expect(await bases()).toEqual(["a.2", "b.1", "c.1"]);
  records.loseLease();
  expect(await sweep.recorded()).toBe(1);
  expect(await sweep.listed()).toBe(0);
  expect(await bases()).toEqual(["a.2", "b.1"]);
  expect(records.recorded().sort()).toEqual(["a.2", "b.1"]);
});

test("a process that was stopped past its lease uploads, is refused, and nothing of it stays", async () => {
  const { records, replica, bases, objects } = createCluster();
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const stopped = replica({
    ...objects,
    async put(...sent) {
      begun.resolve();
      await held.promise;
      await objects.put(...sent);
    },
  });
  const writing = stopped.write("a.1");
  await begun.promise;
  const other = replica();
  expect(await other.sweep.listed()).toBe(0);
  records.loseLease();
  expect(await other.sweep.recorded()).toBe(1);
  expect(records.recorded()).toEqual([]);
  held.resolve();
  await writing;
  expect(() => records.record("a.1")).toThrow();
  expect(await bases()).toEqual(["a.1"]);
  expect(await other.sweep.listed()).toBe(1);
  expect(await bases()).toEqual([]);
});

test("a sweep that was cut off is finished by another one", async () => {
  const { records, replica, bases, objects } = createCluster();
  let left = 3;
  const failing = replica({
    ...objects,
    async remove(name) {
      if (left-- <= 0) throw new Error("stopped");
      await objects.remove(name);
    },
  });
  await failing.write("a.1");
  records.loseLease();
  expect(await outcomeOf(failing.sweep.recorded())).toThrow("stopped");
  expect(await bases()).toEqual(["a.1"]);
  expect(await replica().sweep.recorded()).toBe(1);
  expect(await bases()).toEqual([]);
});

test("a base that is recorded while all are listed stays", async () => {
  const { records, replica, bases, objects } = createCluster();
  const { write } = replica();
  await write("a.1");
  records.loseLease();
  const sweeping = replica({
    ...objects,
    async *folders() {
      for await (const page of objects.folders()) {
        await write("a.2");
        records.record("a.2", "a.1");
        yield [...page, "a.2"];
      }
    },
  });
  expect(await sweeping.sweep.listed()).toBe(1);
  expect(await bases()).toEqual(["a.2"]);
});

test("what nobody wants any more leaves the cache of every replica, once it is not in use", async () => {
  const { records, replica } = createCluster();
  const writer = replica();
  await writer.write("a.1");
  records.record("a.1");
  const reader = replica();
  await reader.vault.restore("a.1", FILES);
  const release = reader.vault.hold("a.1");
  await writer.write("a.2");
  records.record("a.2", "a.1");
  await reader.sweep.cached();
  expect(await reader.vault.bases()).toEqual(["a.1"]);
  release();
  await reader.sweep.cached();
  expect(await reader.vault.bases()).toEqual([]);
  await writer.sweep.cached();
  expect(await writer.vault.bases()).toEqual(["a.2"]);
});

test("all of it goes on in the background, and comes back when the store does", async () => {
  const { records, replica, bases } = createCluster();
  const { write, sweep } = replica();
  await write("a.1");
  await store.stop();
  records.loseLease();
  const failed = Promise.withResolvers<void>();
  const logger = { ...silentLog, warn: () => failed.resolve() };
  const sweeping = startSweep(sweep, { logger, every: { recorded: 10, listed: 10 } });
  await failed.promise;
  await store.start();
  while (records.recorded().length > 0) await Bun.sleep(10);
  await sweeping.stop();
  expect(await bases()).toEqual([]);
});

test("what another server tries the store with is left to it", async () => {
  const { replica, objects, bases } = createCluster();
  await objects.put("check.0123/trial", new Blob(["text"]));
  await objects.put("a.1/data/1.lance", new Blob(["LANC"]));
  expect(await replica().sweep.listed()).toBe(1);
  expect(await bases()).toEqual(["check.0123"]);
});

test("a bucket that keeps what is removed from some day on is told in the log", async () => {
  const { replica, objects } = createCluster();
  const { sweep } = replica({ ...objects, versioning: async () => "Enabled" });
  const told = Promise.withResolvers<string>();
  const logger = { ...silentLog, error: told.resolve };
  const sweeping = startSweep(sweep, { logger, every: { recorded: 10, listed: 10 } });
  expect(await told.promise).toBe("bucket_has_versioning");
  await sweeping.stop();
});
