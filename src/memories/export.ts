import type { Reach } from "../keys/reach.ts";
import { createPause } from "../pause.ts";
import type { Filter } from "./filter.ts";
import type { Memory } from "./memory.ts";
import { mayRead, readable } from "./reach.ts";
import { toMemory } from "./rows.ts";
import type { Store } from "./store.ts";

/** Memories that are read at once: of the longest ones, some 16 MB. */
const PAGE = 128;
/** Bytes of an id without its prefix. */
const ID_BYTES = 16;

/**
 * All memories of an account, the oldest first, a page at a time and only as fast as they are asked
 * for. They are those of the moment of the call: what is saved later is not among them, what changes
 * meanwhile comes as it is then, and what is deleted meanwhile does not come at all. Until it is
 * read to its end, it holds 16 bytes a memory and nothing else.
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

  /** The newest first. One list at a time, because each takes 30 MB for 100,000 memories for a moment. */
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
  const turn = createPause();
  for (let end = packed.length; end > 0; end -= PAGE * ID_BYTES) {
    const ids = unpack(packed.subarray(Math.max(0, end - PAGE * ID_BYTES), end)).reverse();
    const rows = await store.use(reach.accountId, ({ table }) => table.find(ids));
    // What was moved out of reach meanwhile does not come.
    const reached = rows.filter((row) => mayRead(reach, row));
    const byId = new Map(reached.map((row) => [row.id, row]));
    yield ids.flatMap((id) => byId.get(id) ?? []).map(toMemory);
    await turn();
  }
}

function unpack(bytes: Buffer): string[] {
  return Array.from({ length: bytes.length / ID_BYTES }, (_, index) => {
    const start = index * ID_BYTES;
    return `mem_${bytes.toString("hex", start, start + ID_BYTES)}`;
  });
}
