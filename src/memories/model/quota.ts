import { AppError } from "../../errors.ts";
import type { MemoryRow } from "./rows.ts";

/** The most that an account may keep; null is unlimited. */
interface Quota {
  readonly memories: number | null;
  /** UTF-8 bytes of all text that clients gave. */
  readonly bytes: number | null;
}

/** What an account keeps in the same units, or the growth of that. */
export interface Usage {
  memories: number;
  bytes: number;
}

/** Returns the quota of an account or a table by its name; null without one. */
export type QuotaOf = (name: string) => Promise<Quota | null>;

/** Bytes of a memory, as quotas count them. */
export function bytesOf(memory: MemoryRow): number {
  const { content, metadata, tags, agentId, sessionId, project } = memory;
  return Buffer.byteLength([content, metadata, ...tags, agentId, sessionId, project].join(""));
}

/**
 * Refuses growth beyond a quota. An account above its quota may still shrink.
 * @throws AppError `conflict`
 */
export function checkQuota(quota: Quota, used: Usage, growth: Usage): void {
  const refuse = (limit: string) => {
    throw new AppError(
      "conflict",
      `The quota is ${limit}; this would exceed it: delete some memories first, or ask the owner of the server for more.`,
    );
  };
  const isOver = (name: keyof Usage) => {
    const limit = quota[name];
    return limit !== null && growth[name] > 0 && used[name] + growth[name] > limit;
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
