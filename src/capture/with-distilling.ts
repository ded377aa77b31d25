import type { Reach } from "../keys/reach.ts";
import type { NewMemory } from "../memories/model/memory.ts";
import type { DistilledTurns } from "../memories/rules/distilling.ts";
import type { Memories } from "../memories/rules/memories.ts";

/** The fields of a memory's metadata that name the first and the last of the turns from which it was made. */
export const DISTILLED_FIELDS = { from: "distilled_from", to: "distilled_to" } as const;

/**
 * Wraps the memories so that captured turns expire sooner once a memory is saved that names them in its metadata. The turns
 * are the caller's own, wherever the memory is saved. A memory that is known already counts too: after a crash between
 * the two steps, the call is repeated.
 */
export function withDistilling(memories: Memories): Memories {
  const mark = async (reach: Reach, inputs: readonly NewMemory[]): Promise<number | null> => {
    const ranges = new Map<string, DistilledTurns>();
    for (const range of inputs.flatMap((input) => distilledTurns(input) ?? [])) {
      ranges.set(`${range.from} ${range.to}`, range);
    }
    if (ranges.size === 0) return null;
    let marked = 0;
    for (const range of ranges.values()) marked += await memories.markDistilled(reach, range);
    return marked;
  };

  return {
    ...memories,

    async saveAll(reach, inputs, saving) {
      const made = await memories.saveAll(reach, inputs, saving);
      await mark(reach, inputs);
      return made;
    },

    async save(reach, input, saving) {
      const saved = await memories.save(reach, input, saving);
      return { ...saved, distilled: await mark(reach, [input]) };
    },
  };
}

function distilledTurns({ metadata = {} }: NewMemory): DistilledTurns | null {
  const { [DISTILLED_FIELDS.from]: from, [DISTILLED_FIELDS.to]: to } = Object(metadata);
  return typeof from === "string" && typeof to === "string" ? { from, to } : null;
}
