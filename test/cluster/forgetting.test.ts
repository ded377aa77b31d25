import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ObjectSettings } from "../../src/config/shared-settings.ts";
import { createObjects } from "../../src/objects/objects.ts";
import { startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/database.ts";
import { radosgwMissing, startRadosgw } from "../support/radosgw.ts";
import { until } from "../support/until.ts";

/** Milliseconds within which a deleted text must have left all files. */
const PROMISED = 60_000;
const TEXT = "the key is under the mat";

/** Whether any object has a text. */
async function isStored(place: ObjectSettings, text: string): Promise<boolean> {
  const objects = createObjects(place);
  const folder = temporaryFolder();
  const names = (await Array.fromAsync(objects.list(""))).flat().map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    const path = join(folder, String(index));
    // The object may be removed at any moment.
    const isThere = await objects.fetch(name, path, null).then(
      () => true,
      () => false,
    );
    if (isThere && readFileSync(path).includes(text)) return true;
  }
  return false;
}

/** Whether any file below a folder has a text. */
function isIn(folder: string, text: string): boolean {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.some((entry) => {
    if (!entry.isFile()) return false;
    try {
      return readFileSync(join(entry.parentPath, entry.name)).includes(text);
    } catch {
      // The file was removed meanwhile.
      return false;
    }
  });
}

/** Deletes a text that two servers and the object store have, and checks that it leaves all of them. */
async function forget(
  settings: Record<string, string>,
  placeOf: (own: ObjectSettings) => ObjectSettings,
) {
  await using cluster = await startCluster({ replicas: 2, kind: "real", settings });
  const place = placeOf(cluster.objects.place());
  const { key } = await cluster.addAccount();
  const [a, b] = [cluster.client(0, key), cluster.client(1, key)];
  const { id } = await a.save({ content: TEXT });
  const other = await b.save({ content: "of no importance" });
  // A deletion is flushed soon, together with the other changes.
  await b.remove(other.id);
  await until("the text is in an object", () => isStored(place, TEXT));
  const folders = cluster.replicas.map(({ dataDir }) => dataDir);
  await until("the text is in both caches", async () => {
    for (const client of [a, b]) await client.search("key");
    return folders.every((folder) => isIn(folder, TEXT));
  });
  const started = performance.now();
  await b.remove(id);
  await until("it is nowhere", async () => {
    return !folders.some((folder) => isIn(folder, TEXT)) && !(await isStored(place, TEXT));
  });
  return performance.now() - started;
}

describe.skipIf(!process.env.LONG)("a deleted text leaves all objects and caches in time", () => {
  test("over s3rver", async () => {
    expect(await forget({}, (own) => own)).toBeLessThan(PROMISED);
  }, 300_000);

  test.skipIf(radosgwMissing !== null)(
    "over Ceph's object store",
    async () => {
      const store = await startRadosgw();
      try {
        const place = store.place();
        const settings = {
          AWS_ENDPOINT_URL_S3: store.endpoint,
          AWS_ACCESS_KEY_ID: place.accessKeyId,
          AWS_SECRET_ACCESS_KEY: place.secretAccessKey,
        };
        expect(await forget(settings, () => place)).toBeLessThan(PROMISED);
      } finally {
        await store.end();
      }
    },
    300_000,
  );
});
