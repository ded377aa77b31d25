import type { Filter } from "./filter.ts";
import type { Memory } from "./memory.ts";
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
export async function exportMemories(
  store: Pick<Store, "use">,
  accountId: string,
  filter: Filter,
): Promise<AsyncGenerator<Memory[], void>> {
  const ids = await store.use(accountId, ({ table }) => table.list(filter, null));
  const packed = Buffer.alloc(ids.length * ID_BYTES);
  for (const [index, id] of ids.entries()) {
    packed.write(id.slice("mem_".length), index * ID_BYTES, "hex");
  }

  /** Their newest comes first, so that the oldest are at the end. */
  const idsBefore = (end: number) => {
    const bytes = packed.subarray(Math.max(0, end - PAGE * ID_BYTES), end);
    const count = bytes.length / ID_BYTES;
    return Array.from({ length: count }, (_, index) => {
      const start = (count - 1 - index) * ID_BYTES;
      return `mem_${bytes.toString("hex", start, start + ID_BYTES)}`;
    });
  };

  return (async function* () {
    for (let end = packed.length; end > 0; end -= PAGE * ID_BYTES) {
      const page = idsBefore(end);
      const rows = await store.use(accountId, ({ table }) => table.find(page));
      const byId = new Map(rows.map((row) => [row.id, row]));
      yield page.flatMap((id) => byId.get(id) ?? []).map(toMemory);
    }
  })();
}
