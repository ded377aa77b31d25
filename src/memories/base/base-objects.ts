import { otherContent } from "../../objects/body.ts";
import type { Objects } from "../../objects/objects.ts";
import { forEachAtOnce } from "../../timing/at-once.ts";
import type { Contents } from "../log/shared-log.ts";

/** Removes all objects of a base. */
export async function removeObjects(objects: Objects, base: string): Promise<void> {
  for await (const page of objects.list(`${base}/`)) {
    await forEachAtOnce(page, ({ name }) => objects.remove(name));
  }
}

/**
 * Checks that the object store has files of a base, with their sizes. Some stores and gateways answer success
 * for an object that they have not stored, or have only a part of.
 * @throws ObjectStoreError
 */
export async function requireStored(
  objects: Objects,
  base: string,
  contents: Contents,
): Promise<void> {
  const missing = new Map(
    Object.entries(contents).map(([file, { bytes }]) => [`${base}/${file}`, bytes]),
  );
  for await (const page of objects.list(`${base}/`)) {
    for (const { name, bytes } of page) if (missing.get(name) === bytes) missing.delete(name);
  }
  const [first] = missing.keys();
  if (first !== undefined) throw otherContent(`PUT ${first}`);
}

/** Bytes of all objects of a base. */
export async function bytesOfObjects(objects: Objects, base: string): Promise<number> {
  let sum = 0;
  for await (const page of objects.list(`${base}/`)) {
    for (const { bytes } of page) sum += bytes;
  }
  return sum;
}
