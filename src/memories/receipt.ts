import { allows, type Scope } from "../keys/scopes.ts";
import type { Memory } from "./memory.ts";

/** What is told of a memory that was written to who may not read it. */
export type Receipt = Pick<Memory, "id" | "created_at" | "updated_at">;

/**
 * A memory as who wrote it sees it: whole only with the scope to read, for what is there may have
 * been written by others.
 */
export function writtenMemory(memory: Memory, scopes: readonly Scope[]): Memory | Receipt {
  if (allows(scopes, "memories:read")) return memory;
  const { id, created_at, updated_at } = memory;
  return { id, created_at, updated_at };
}
