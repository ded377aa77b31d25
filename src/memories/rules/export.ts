import type { Reach } from "../../keys/reach.ts";
import { createPause } from "../../timing/pause.ts";
import type { Filter } from "../model/filter.ts";
import { LIMITS, type Memory } from "../model/memory.ts";
import { mayRead, readable } from "../model/reach.ts";
import type { Store } from "../store/store.ts";
import { toAnswers } from "./answer.ts";
import { findInOrder } from "./find-by-id.ts";

/** The most memories of a page, and the bytes that it should have: reading and writing 1 MB takes some 10 ms. */
const PAGE = 128;
const PAGE_BYTES = 1 << 19;
/** Bytes of an id without its prefix. */
const ID_BYTES = 16;

/**
 * All memories of an account, oldest first. Pages are read as fast as the client takes them. The export has
 * the memories that existed at the call: later ones are missing, changed ones have their newest state, and
 * deleted ones are left out. Between pages it keeps 16 bytes for each memory and nothing else.
 */
export type ExportMemories = (
  reach: Reach,
  filter: Filter,
) => Promise<AsyncGenerator<Memory[], void>>;

export function createExport({
  store,
  clock,
}: {
  store: Pick<Store, "use">;
  clock: () => number;
}): ExportMemories {
  let last: Promise<unknown> = Promise.resolve();

  /**
   * Ids of matching memories, newest first. One list at a time: a list of 100,000 memories takes 30 MB for
   * a moment.
   */
  const listIds = (accountId: string, filter: Filter): Promise<Buffer> => {
    const listed = last.then(async () =>
      pack(await store.use(accountId, ({ table }) => table.list(filter, null))),
    );
    last = listed.catch(() => {});
    return listed;
  };

  return async (reach, filter) => {
    const visible = readable(reach, { ...filter, aliveAt: clock() });
    return readPages(store, reach, await listIds(reach.accountId, visible));
  };
}

function pack(ids: readonly string[]): Buffer {
  const packed = Buffer.alloc(ids.length * ID_BYTES);
  for (const [index, id] of ids.entries()) {
    packed.write(id.slice("mem_".length), index * ID_BYTES, "hex");
  }
  return packed;
}

async function* readPages(
  store: Pick<Store, "use">,
  reach: Reach,
  packed: Buffer,
): AsyncGenerator<Memory[], void> {
  const pause = createPause();
  let size = PAGE_BYTES / LIMITS.content;
  for (let end = packed.length, start: number; end > 0; end = start) {
    start = Math.max(0, end - size * ID_BYTES);
    const ids = unpack(packed.subarray(start, end)).reverse();
    const memories = await store.use(reach.accountId, async ({ table }) => {
      const rows = await findInOrder(table, ids);
      // A memory may have moved out of reach since the call.
      const reached = rows.filter((row) => mayRead(reach, row));
      return toAnswers(table, reach, reached);
    });
    yield memories;
    const characters = memories.reduce((sum, { content }) => sum + content.length, 0);
    size = Math.min(PAGE, 2 * size, Math.ceil((size * PAGE_BYTES) / Math.max(1, characters)));
    await pause();
  }
}

function unpack(bytes: Buffer): string[] {
  return Array.from({ length: bytes.length / ID_BYTES }, (_, index) => {
    const start = index * ID_BYTES;
    return `mem_${bytes.toString("hex", start, start + ID_BYTES)}`;
  });
}
