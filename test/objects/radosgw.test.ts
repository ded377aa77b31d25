import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { basename, dirname } from "node:path";
import { createBaseCache } from "../../src/memories/base/base-cache.ts";
import { createObjectVault } from "../../src/memories/base/object-vault.ts";
import { checkObjectStore } from "../../src/objects/check.ts";
import { createObjects } from "../../src/objects/objects.ts";
import { describeVault } from "../memories/base/vault-contract.ts";
import { createTestRecords } from "../support/base-records.ts";
import { radosgwMissing, startRadosgw } from "../support/radosgw.ts";

const reason = process.env.LONG ? radosgwMissing : "LONG is not set";

describe.skipIf(reason !== null)("Ceph's object store", () => {
  let store: Awaited<ReturnType<typeof startRadosgw>>;
  beforeAll(async () => {
    store = await startRadosgw();
  }, 120_000);
  afterAll(() => store.end());

  const records = createTestRecords();
  describeVault("a vault in it", (folder) =>
    createObjectVault({
      objects: createObjects(store.place(basename(dirname(folder)))),
      records,
      cache: createBaseCache({ folder, limit: 1 << 30 }),
    }),
  );

  test("the check accepts it, and explains a wrong key, secret and bucket", async () => {
    const place = store.place();
    expect((await checkObjectStore(place)).state).toBe("ok");
    const { message: unknown } = await checkObjectStore({ ...place, accessKeyId: "other" });
    expect(unknown).toContain("does not know AWS_ACCESS_KEY_ID");
    const { message: unsigned } = await checkObjectStore({ ...place, secretAccessKey: "other" });
    expect(unsigned).toStartWith("AWS_SECRET_ACCESS_KEY does not belong");
    const { message: missing } = await checkObjectStore({ ...place, bucket: "other" });
    expect(missing).toStartWith("The bucket other of CTXD_OBJECTS does not exist");
  });

  test("all objects and folders are listed when they need several pages", async () => {
    const objects = createObjects(store.place("many"));
    const names = Array.from({ length: 1_100 }, (_, index) => `base ${index}&<'"é>/data/1+1.lance`);
    const put = (name: string) => objects.put(name, new Blob(["LANC"]));
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(names.slice(at, at + 50).map(put));
    const listed = (await Array.fromAsync(objects.list(""))).flat();
    expect(listed.map(({ name }) => name).sort()).toEqual([...names].sort());
    const folders = (await Array.fromAsync(objects.folders())).flat();
    expect(folders.sort()).toEqual(names.map((name) => name.replace(/\/.*/, "")).sort());
  });

  test("a bucket is refused while it has versioning", async () => {
    await store.setVersioning("Enabled");
    expect((await checkObjectStore(store.place())).message).toContain("has versioning");
    await store.setVersioning("Suspended");
    expect((await checkObjectStore(store.place())).state).toBe("ok");
  });
});
