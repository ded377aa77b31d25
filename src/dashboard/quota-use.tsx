/** @jsxRuntime automatic @jsxImportSource #pages */
import type { AccountQuota } from "../accounts/quotas.ts";
import type { Markup } from "../pages/jsx-runtime.ts";
import { memoryCount, sizeText } from "./number-text.ts";

/** What an account keeps, as quotas count it. */
export interface Kept {
  readonly memories: number;
  /** Of all text, in UTF-8. */
  readonly bytes: number;
}

/** What an account keeps, and of how much where that is limited. */
export function QuotaUse({ kept, quota }: { kept: Kept; quota: AccountQuota | null }): Markup {
  const { memories = null, bytes = null } = quota ?? {};
  return (
    <span class="use">
      <span>
        {memories === null
          ? memoryCount(kept.memories)
          : `${kept.memories.toLocaleString("en")} of ${memoryCount(memories)}`}
      </span>
      {memories !== null && <Share of="memories" used={kept.memories} most={memories} />}
      <span class="under">
        {bytes === null
          ? `${sizeText(kept.bytes)} of text`
          : `${sizeText(kept.bytes)} of ${sizeText(bytes)} of text`}
      </span>
      {bytes !== null && <Share of="text" used={kept.bytes} most={bytes} />}
    </span>
  );
}

function Share({ of, used, most }: { of: string; used: number; most: number }): Markup {
  const share = most === 0 ? 1 : Math.min(1, used / most);
  const percent = `${Math.round(100 * share)} %`;
  return (
    <meter value={share} min={0} max={1} aria-label={`Share of ${of} that is used`}>
      {percent}
    </meter>
  );
}

/** What may be kept, in words: `10,000 memories and 20 MB of text`. */
export function quotaText(quota: AccountQuota | null): string {
  const { memories = null, bytes = null } = quota ?? {};
  if (memories === null && bytes === null) return "any number of memories";
  const text = bytes === null ? [] : [`${sizeText(bytes)} of text`];
  return [...(memories === null ? [] : [memoryCount(memories)]), ...text].join(" and ");
}

/** What holds for accounts without a quota of their own. */
export function UsualQuota({ quota }: { quota: AccountQuota | null }): Markup {
  return (
    <p class="faint">
      Members may keep {quotaText(quota)}, where nothing else is set for them. The setting is{" "}
      <code>CTXD_MEMBER_QUOTA</code>.
    </p>
  );
}
