import type { MemoryChanges } from "../../memories/model/memory.ts";
import type { Memories } from "../../memories/rules/memories.ts";

/** Warnings to add to a notice if a saved text contains secrets; empty if it contains none. */
export function secretNotice({ secrets }: Pick<Memories, "secrets">, texts: MemoryChanges): string {
  const kinds = secrets.warnings(texts)?.warnings.map(({ message }) => message) ?? [];
  return kinds.map((kind) => ` ${kind}`).join("");
}
