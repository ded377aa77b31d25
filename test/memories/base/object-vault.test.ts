import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { createBaseCache } from "../../../src/memories/base/base-cache.ts";
import { createObjectVault } from "../../../src/memories/base/object-vault.ts";
import { createObjects } from "../../../src/objects/objects.ts";
import { createTestRecords } from "../../support/base-records.ts";
import { temporaryFolder } from "../../support/database.ts";
import { listFiles } from "../../support/files.ts";
import { type ObjectStore, startObjectStore } from "../../support/object-store.ts";
import { outcomeOf, rejectionOf } from "../../support/outcome.ts";
import { describeVault, WHOLE, writeBase } from "./vault-contract.ts";

const FILES = Object.keys(WHOLE);
const GIB = 1 << 30;

let store: ObjectStore;
beforeAll(async () => {
  store = await startObjectStore();
});
afterAll(() => store.end());

/** What replicas share, each with a folder of its own. */
function createCluster(prefix = basename(temporaryFolder())) {
  const records = createTestRecords();
  const objects = createObjects(store.place(prefix));
  const create = (folder: string, options = {}) => {
    const cache = createBaseCache({ folder, limit: GIB });
    return createObjectVault({
      objects: createObjects(store.place(prefix), options),
      records,
      cache,
    });
  };
  const replica = (options: { patience?: number } = {}) => {
    const folder = join(temporaryFolder(), "memories");
    return { folder, vault: create(folder, options) };
  };
  const names = async () => {
    const pages = await Array.fromAsync(objects.list(""));
    return pages.flat().map(({ name }) => name);
  };
  return { records, objects, create, replica, names };
}

const clusters = new Map<string, ReturnType<typeof createCluster>>();

describeVault("the object store's vault", (folder) => {
  const prefix = basename(dirname(folder));
  const cluster = clusters.get(prefix) ?? createCluster(prefix);
  clusters.set(prefix, cluster);
  return cluster.create(folder);
});

/** A base that one replica has kept, and a checkpoint refers to. */
async function setUp() {
  const cluster = createCluster();
  const { folder, vault } = cluster.replica();
  writeBase(folder, "a.1");
  await vault.keep("a.1", FILES);
  cluster.records.record("a.1");
  return { ...cluster, folder, vault };
}

const contentOf = (folder: string, file: string) =>
  readFileSync(join(folder, "a.1.lance", file), "utf8");

describe("another replica", () => {
  test("gets all files of a base, and nothing else is left in its folder", async () => {
    const { replica } = await setUp();
    const other = replica();
    await other.vault.restore("a.1", FILES);
    expect(readdirSync(other.folder)).toEqual(["a.1.lance"]);
    for (const [file, content] of Object.entries(WHOLE)) {
      expect(contentOf(other.folder, file)).toBe(content);
    }
  });

  test("gets a base whole or not at all", async () => {
    const { replica, objects } = await setUp();
    await objects.remove("a.1/_deletions/1.arrow");
    const other = replica();
    const restored = other.vault.restore("a.1", FILES);
    expect(await rejectionOf(restored)).toMatchObject({ code: "unavailable" });
    expect(await listFiles(other.folder)).toEqual([]);
  });

  test("gets a base whose contents nobody has recorded, as earlier versions did not", async () => {
    const { records, objects } = await setUp();
    const folder = join(temporaryFolder(), "memories");
    const cache = createBaseCache({ folder, limit: GIB });
    const earlier = { ...records, contents: async () => ({}) };
    await createObjectVault({ objects, records: earlier, cache }).restore("a.1", FILES);
    expect(contentOf(folder, "data/1.lance")).toBe("rows LANC");
  });

  test("gets no base with a file that is not what was kept", async () => {
    const { replica, objects } = await setUp();
    await objects.put("a.1/data/1.lance", new Blob(["sowr LANC"]));
    const other = replica();
    const restored = other.vault.restore("a.1", FILES);
    expect(await rejectionOf(restored)).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("as they were stored"),
    });
    expect(await listFiles(other.folder)).toEqual([]);
  });

  test("that is late for a base whose place another has taken is told to come again", async () => {
    const { replica, vault, records, folder } = await setUp();
    writeBase(folder, "a.2");
    await vault.keep("a.2", FILES);
    records.record("a.2", "a.1");
    await vault.forget(["a.1"]);
    const restored = replica().vault.restore("a.1", FILES);
    expect(await rejectionOf(restored)).toMatchObject({ code: "unavailable", retryAfter: 1 });
  });

  test.each(FILES)("fetches a %s again that is torn, and what is not listed goes", async (file) => {
    const { replica } = await setUp();
    const other = replica();
    await other.vault.restore("a.1", FILES);
    writeBase(other.folder, "a.1", { [file]: file.endsWith(".txn") ? "" : "LANC, and no mark" });
    writeBase(other.folder, "a.1", { "data/foreign.lance": "other LANC" });
    await other.vault.restore("a.1", FILES);
    expect(contentOf(other.folder, file)).toBe(WHOLE[file] ?? "");
    expect((await other.vault.files("a.1")).sort()).toEqual([...FILES].sort());
  });

  test("fetches a base again whose folder has vanished, with all others", async () => {
    const { folder, vault } = await setUp();
    rmSync(folder, { recursive: true });
    await vault.restore("a.1", FILES);
    expect(contentOf(folder, "data/1.lance")).toBe("rows LANC");
  });

  test("removes nothing that is not listed from a base that is open", async () => {
    const { vault, folder } = await setUp();
    const release = vault.hold("a.1");
    writeBase(folder, "a.1", { "data/2.lance": "coming LANC" });
    await vault.restore("a.1", FILES);
    expect(await vault.files("a.1")).toContain("data/2.lance");
    release();
    await vault.restore("a.1", FILES);
    expect(await vault.files("a.1")).not.toContain("data/2.lance");
  });
});

describe("records", () => {
  test("a base is recorded before its first object, and not after the last is gone", async () => {
    const { records, replica, objects, names } = createCluster();
    const seen: string[][] = [];
    const { folder } = replica();
    const watched = {
      ...objects,
      put: async (name: string, file: Blob) => {
        seen.push(records.recorded());
        await objects.put(name, file);
      },
      remove: async (name: string) => {
        seen.push(records.recorded());
        await objects.remove(name);
      },
    };
    const cache = createBaseCache({ folder, limit: GIB });
    const vault = createObjectVault({ objects: watched, records, cache });
    writeBase(folder, "a.1");
    await vault.keep("a.1", FILES);
    await vault.forget(["a.1"]);
    expect(seen).toEqual(Array.from({ length: 2 * FILES.length }, () => ["a.1"]));
    expect(records.recorded()).toEqual([]);
    expect(await names()).toEqual([]);
  });

  test("a base that a checkpoint refers to is not forgotten, whoever asks for it", async () => {
    const { vault, names } = await setUp();
    await vault.forget(["a.1"]);
    expect(await names()).toHaveLength(FILES.length);
    expect(await vault.bases()).toEqual(["a.1"]);
  });

  test("a base that is to be removed is not written", async () => {
    const { records, replica, names } = createCluster();
    const { folder, vault } = replica();
    await records.begin("a.1");
    records.loseLease();
    writeBase(folder, "a.1");
    expect(await outcomeOf(vault.keep("a.1", FILES))).toThrow("to be removed");
    expect(await names()).toEqual([]);
  });
});

describe("an object store", () => {
  test("that is away: an account that is not here has 503, and is there when it is back", async () => {
    const { replica, vault, folder } = await setUp();
    const other = replica();
    await store.stop();
    try {
      const restored = other.vault.restore("a.1", FILES);
      expect(await rejectionOf(restored)).toMatchObject({ code: "unavailable", retryAfter: 5 });
      writeBase(folder, "b.1");
      expect(await outcomeOf(vault.keep("b.1", FILES))).toThrow();
      // What is here needs no store.
      await vault.restore("a.1", FILES);
    } finally {
      await store.start();
    }
    await other.vault.restore("a.1", FILES);
    await vault.keep("b.1", FILES);
    await other.vault.restore("b.1", FILES);
  });

  test("that hangs is waited for no longer than its time, and is there when it goes on", async () => {
    const { replica, create } = await setUp();
    const { vault, folder } = replica({ patience: 300 });
    writeBase(folder, "b.1");
    store.pause();
    try {
      const restored = vault.restore("a.1", FILES);
      expect(await rejectionOf(restored)).toMatchObject({ code: "unavailable", retryAfter: 5 });
      expect(await outcomeOf(vault.keep("b.1", FILES))).toThrow("NoAnswer");
    } finally {
      store.resume();
    }
    const patient = create(folder);
    await patient.restore("a.1", FILES);
    await patient.keep("b.1", FILES);
  });
});

test("a file that is larger than memory should hold goes there and back as it is", async () => {
  const { vault, folder, replica } = await setUp();
  const path = join(folder, "a.1.lance", "data", "large.lance");
  mkdirSync(dirname(path), { recursive: true });
  const bytes = Buffer.alloc(32 << 20, "0123456789abcde");
  bytes.write("LANC", bytes.length - 4);
  writeFileSync(path, bytes);
  const files = [...FILES, "data/large.lance"];
  await vault.keep("a.1", files);
  const other = replica();
  await other.vault.restore("a.1", files);
  const fetched = readFileSync(join(other.folder, "a.1.lance", "data", "large.lance"));
  expect(fetched.equals(bytes)).toBe(true);
});

test("when the cache's disk is full, others make room for a base; if that does not help it is told", async () => {
  const { objects, records, create } = await setUp();
  let isFull = true;
  const full = () => Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  const folder = join(temporaryFolder(), "memories");
  const cache = createBaseCache({ folder, limit: GIB, grace: -1 });
  const fetch: typeof objects.fetch = async (name, path, expected) => {
    const hasOthers = (await cache.bases()).includes("b.1");
    if (isFull || hasOthers) throw full();
    await objects.fetch(name, path, expected);
  };
  const vault = createObjectVault({ objects: { ...objects, fetch }, records, cache });
  writeBase(folder, "b.1");
  await vault.keep("b.1", FILES);
  const release = vault.hold("b.1");
  expect(await outcomeOf(vault.restore("a.1", FILES))).toThrow("no space left");
  isFull = false;
  expect(await outcomeOf(vault.restore("a.1", FILES))).toThrow("no space left");
  expect(await vault.bases()).toEqual(["b.1"]);
  release();
  await vault.restore("a.1", FILES);
  expect(await vault.bases()).toEqual(["a.1"]);
  await create(folder).restore("b.1", FILES);
});
