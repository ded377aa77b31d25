import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBaseCache } from "../../../src/memories/base/base-cache.ts";
import { temporaryFolder } from "../../support/database.ts";
import { writeBase } from "./vault-contract.ts";

/** A cache without any grace, and what adds a base of 100 bytes to it. */
function setUp(options: Partial<Parameters<typeof createBaseCache>[0]> = {}) {
  const { folder = join(temporaryFolder(), "memories") } = options;
  const cache = createBaseCache({ limit: 350, grace: -1, ...options, folder });
  const add = async (base: string) => {
    writeBase(folder, base, { "data/1.lance": "LANC".repeat(25) });
    await cache.recordArrival(base);
  };
  return { cache, folder, add };
}

test("the least recently used go first when there is too much", async () => {
  const { cache, add } = setUp();
  for (const base of ["a", "b", "c", "d", "e"]) await add(base);
  cache.hold("a")();
  await cache.makeRoom();
  expect((await cache.bases()).sort()).toEqual(["a", "d", "e"]);
  expect(cache.size()).toBe(300);
});

test("one that is in use stays, and goes when its last user has left", async () => {
  const { cache, add } = setUp({ limit: 150 });
  await add("a");
  const [first, second] = [cache.hold("a"), cache.hold("a")];
  await add("b");
  await cache.makeRoom();
  expect(await cache.bases()).toEqual(["a"]);
  await add("b");
  const held = cache.hold("b");
  first();
  first();
  await cache.makeRoom();
  expect((await cache.bases()).sort()).toEqual(["a", "b"]);
  second();
  held();
  await cache.makeRoom();
  expect(await cache.bases()).toEqual(["b"]);
});

test("one that has just come stays until it can have been opened", async () => {
  const { cache, add } = setUp({ limit: 50, grace: 60_000 });
  await add("a");
  await cache.makeRoom();
  expect(await cache.bases()).toEqual(["a"]);
  expect(cache.unused()).toEqual([]);
});

test("what an earlier process left counts, and what came or went when it ended is removed", async () => {
  const { folder, add } = setUp();
  for (const base of ["a", "b", "c"]) await add(base);
  mkdirSync(join(folder, ".passing-0123"));
  writeFileSync(join(folder, ".passing-0123", "half"), "");
  const { cache } = setUp({ folder, limit: 250 });
  await cache.load();
  await cache.makeRoom();
  expect(cache.size()).toBe(200);
  expect(readdirSync(folder)).toHaveLength(2);
});

test("what was not written to its end is noticed when it is old", async () => {
  const { cache, folder } = setUp();
  await cache.load();
  for (const base of ["old", "new"]) writeBase(folder, base);
  utimesSync(join(folder, "old.lance"), 0, 0);
  await cache.adoptOld();
  expect(cache.unused()).toEqual(["old"]);
});

test("when the disk is nearly full, what nobody uses goes whatever the limit is", async () => {
  let free = Number.POSITIVE_INFINITY;
  const { cache, add } = setUp({ limit: 1_000, free: async () => free });
  for (const base of ["a", "b"]) await add(base);
  const release = cache.hold("a");
  await cache.makeRoom();
  expect(cache.size()).toBe(200);
  free = 1_000;
  await cache.makeRoom();
  expect(await cache.bases()).toEqual(["a"]);
  release();
  await cache.makeRoom();
  expect(await cache.bases()).toEqual([]);
});

test("a folder that has vanished is no error", async () => {
  const { cache } = setUp({ folder: join(temporaryFolder(), "gone", "memories") });
  await cache.load();
  await cache.makeRoom();
  await cache.remove("a");
  expect(await cache.bases()).toEqual([]);
});
