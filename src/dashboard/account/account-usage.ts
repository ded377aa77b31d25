import type { AccountQuota, Quotas } from "../../accounts/quotas.ts";
import type { Memories } from "../../memories/rules/memories.ts";

/** How much an account stores, as quotas count it. */
export interface Usage {
  readonly memories: number;
  /** Bytes of all text, in UTF-8. */
  readonly bytes: number;
}

/** What an account stores, and what it may store. */
export interface AccountUsage {
  readonly usage: Usage;
  /** Bytes on disk. */
  readonly bytes: number;
  /** Null without a limit. */
  readonly quota: AccountQuota | null;
}

export async function readUsage(
  accountId: string,
  { memories, quotas }: { memories: Pick<Memories, "usage" | "bytes">; quotas: Pick<Quotas, "of"> },
): Promise<AccountUsage> {
  const [usage, bytes, quota] = await Promise.all([
    memories.usage(accountId),
    memories.bytes(accountId),
    quotas.of(accountId),
  ]);
  return { usage, bytes, quota };
}
