import type { Memories } from "../memories/memories.ts";
import type { MemoryChanges } from "../memories/memory.ts";

/** What to add where something was saved that looks like a secret; empty else. */
export function secretNotice({ secrets }: Pick<Memories, "secrets">, texts: MemoryChanges): string {
  const kinds = secrets.warnings(texts)?.warnings.map(({ message }) => message) ?? [];
  return kinds.map((kind) => ` ${kind}`).join("");
}
