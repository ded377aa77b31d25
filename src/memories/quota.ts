import { AppError } from "../errors.ts";
import type { StoredMemory } from "./rows.ts";

/** What an account may keep at the most; null is without end. */
export interface Quota {
  readonly memories: number | null;
  /** Of all text that it was given, in UTF-8. */
  readonly bytes: number | null;
}

/** What an account keeps, in the same units; or by how much that grows. */
export interface Usage {
  memories: number;
  bytes: number;
}

/** Bytes of a memory, as quotas count them. */
export function bytesOf({ content, metadata, tags, agentId, sessionId }: StoredMemory): number {
  return Buffer.byteLength([content, metadata, ...tags, agentId, sessionId].join(""));
}

/** The same as an expression over the rows of a table. */
export const BYTES_SQL = [
  "content",
  "metadata",
  "array_to_string(tags, '')",
  "agent_id",
  "session_id",
]
  .map((text) => `coalesce(octet_length(${text}), 0)`)
  .join(" + ");

/**
 * Refuses what would make an account keep more than it may. What makes it keep less is no matter,
 * also where it is above.
 * @throws AppError `conflict`
 */
export function checkQuota(quota: Quota, used: Usage, growth: Usage): void {
  const refuse = (most: string) => {
    throw new AppError(
      "conflict",
      `This account may keep ${most}, and this would be more: delete some memories first, or ask the owner of the server for more.`,
    );
  };
  const isOver = (name: keyof Usage) => {
    const most = quota[name];
    return most !== null && growth[name] > 0 && used[name] + growth[name] > most;
  };
  if (isOver("memories")) {
    refuse(quota.memories === 1 ? "1 memory" : `${quota.memories} memories`);
  }
  if (isOver("bytes")) refuse(`${quota.bytes} bytes of text`);
}

/**
 * Keeps count of what a table holds, without reading it at every write.
 * @param read counts it anew
 */
export function createUsageCount(read: () => Promise<Usage>) {
  let known: Usage | null = null;
  return {
    /** What is known without reading. */
    known: () => known,
    /** To be called when no write is under way. */
    async current(): Promise<Usage> {
      known ??= await read();
      return known;
    },
    /** Notes a write by which it has grown; null when that isn't known. */
    note(growth: Usage | null): void {
      known = known && growth && plus(known, growth);
    },
  };
}

export function plus(a: Usage, b: Usage): Usage {
  return { memories: a.memories + b.memories, bytes: a.bytes + b.bytes };
}

export function minus(a: Usage, b: Usage): Usage {
  return { memories: a.memories - b.memories, bytes: a.bytes - b.bytes };
}
