import { AppError } from "../errors.ts";
import type { Head } from "./log/log.ts";
import type { MemoryRow } from "./rows.ts";
import type { Store } from "./store.ts";

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

/** What something may hold from now on, by its name; null for all. */
export type QuotaOf = (name: string) => Promise<Quota | null>;

/** What an account keeps, without opening its table where the log has counted that. */
export async function usageOf(
  head: Pick<Head, "usage"> | null,
  accountId: string,
  use: Store["use"],
): Promise<Usage> {
  if (head === null) return { memories: 0, bytes: 0 };
  return head.usage ?? (await use(accountId, async ({ table }) => ({ ...table.usage })));
}

/** Bytes of a memory, as quotas count them. */
export function bytesOf(memory: MemoryRow): number {
  const { content, metadata, tags, agentId, sessionId, project } = memory;
  return Buffer.byteLength([content, metadata, ...tags, agentId, sessionId, project].join(""));
}

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

export function plus(a: Usage, b: Usage): Usage {
  return { memories: a.memories + b.memories, bytes: a.bytes + b.bytes };
}

export function minus(a: Usage, b: Usage): Usage {
  return { memories: a.memories - b.memories, bytes: a.bytes - b.bytes };
}
