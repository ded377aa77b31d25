import type { Objects } from "../../objects/objects.ts";

/** Objects that are sent, fetched or removed at the same time. */
const AT_ONCE = 8;

/** Removes all objects of a base. */
export async function removeObjects(objects: Objects, base: string): Promise<void> {
  for await (const page of objects.list(`${base}/`)) {
    await inTurn(page, ({ name }) => objects.remove(name));
  }
}

/** Bytes of all objects of a base. */
export async function bytesOfObjects(objects: Objects, base: string): Promise<number> {
  let sum = 0;
  for await (const page of objects.list(`${base}/`)) {
    for (const { bytes } of page) sum += bytes;
  }
  return sum;
}

/** Does the same with all of them, some at once. When one fails, those under way end before it is told. */
export async function inTurn<Item>(
  items: readonly Item[],
  task: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      try {
        await task(item);
      } catch (error) {
        left.length = 0;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
}
