/** @jsxRuntime automatic @jsxImportSource #pages */
import type { AccountQuota, Quotas } from "../../accounts/quotas.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { memoryCount, percent, sizeText } from "../../text/number-text.ts";

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

/** How much an account stores, and its quota if it has one. */
export function QuotaUse({ usage, quota }: { usage: Usage; quota: AccountQuota | null }): Markup {
  const { memories = null, bytes = null } = quota ?? {};
  return (
    <span class="use">
      <span>
        {memories === null
          ? memoryCount(usage.memories)
          : `${usage.memories.toLocaleString("en")} of ${memoryCount(memories)}`}
      </span>
      {memories !== null && <Share of="memories" used={usage.memories} limit={memories} />}
      <span class="under">
        {bytes === null
          ? `${sizeText(usage.bytes)} of text`
          : `${sizeText(usage.bytes)} of ${sizeText(bytes)} of text`}
      </span>
      {bytes !== null && <Share of="text" used={usage.bytes} limit={bytes} />}
    </span>
  );
}

function Share({ of, used, limit }: { of: string; used: number; limit: number }): Markup {
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  return (
    <meter value={share} min={0} max={1} aria-label={`Share of ${of} in use`}>
      {percent(share)}
    </meter>
  );
}

/** A quota in words: `10,000 memories and 20 MB of text`. */
export function quotaText(quota: AccountQuota | null): string {
  const { memories = null, bytes = null } = quota ?? {};
  if (memories === null && bytes === null) return "any number of memories";
  const text = bytes === null ? [] : [`${sizeText(bytes)} of text`];
  return [...(memories === null ? [] : [memoryCount(memories)]), ...text].join(" and ");
}

/** The quota of members without a quota of their own. */
export function DefaultQuota({ quota }: { quota: AccountQuota | null }): Markup {
  return (
    <p class="faint">
      By default, members may store {quotaText(quota)}. The setting is{" "}
      <code>CTXD_MEMBER_QUOTA</code>.
    </p>
  );
}
