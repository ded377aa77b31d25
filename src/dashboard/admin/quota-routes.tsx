/** @jsxRuntime automatic @jsxImportSource #pages */

import type { Account } from "../../accounts/account.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import type { AccountQuota, Quotas } from "../../accounts/quotas.ts";
import { parseBytes } from "../../config/setting-values.ts";
import { AppError } from "../../errors.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import { memoryCount, percent, sizeText } from "../../text/number-text.ts";
import { ACCOUNTS_PATH } from "../navigation.tsx";
import type { Parts } from "../parts.ts";

/** What an account stores, as quotas count it and in bytes on disk, and what it may store. */
export type AccountUsage = Awaited<ReturnType<typeof readUsage>>;

export async function readUsage(
  accountId: string,
  { memories, quotas }: { memories: Pick<Memories, "usage" | "bytes">; quotas: Pick<Quotas, "of"> },
) {
  const [usage, bytes, quota] = await Promise.all([
    memories.usage(accountId),
    memories.bytes(accountId),
    quotas.of(accountId),
  ]);
  return { usage, bytes, quota };
}

/** How much an account stores, and its quota if it has one. */
export function QuotaUse({ usage, quota }: Pick<AccountUsage, "usage" | "quota">) {
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

function Share({ of, used, limit }: { of: string; used: number; limit: number }) {
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
export function DefaultQuota({ quota }: { quota: AccountQuota | null }) {
  return (
    <p class="faint">
      By default, members may store {quotaText(quota)}. The setting is{" "}
      <code>CTXD_MEMBER_QUOTA</code>.
    </p>
  );
}

/** The forms with which the owner sets the quota of an account. */
export function addQuotaForms({ pages, accounts, quotas, record }: Parts): void {
  const addChange = (
    path: string,
    apply: (accountId: string, form: URLSearchParams) => Promise<void>,
  ) =>
    pages.owner.post(`${ACCOUNTS_PATH}/:id/${path}`, async (visit, form, id) => {
      const { email } = await findExisting(accounts, id);
      await apply(id, form);
      record(visit.request, "quota_changed", { accountId: id, actorId: visit.account.id });
      const notice = `${email} may store ${quotaText(await quotas.of(id))}.`;
      return { to: `${ACCOUNTS_PATH}/${id}`, notice };
    });
  addChange("quota", (id, form) => quotas.set(id, quotaOf(form)));
  addChange("quota/clear", quotas.clear);
}

/** @throws AppError `not_found` */
export async function findExisting(accounts: Pick<Accounts, "find">, id: string): Promise<Account> {
  const account = await accounts.find(id);
  if (account) return account;
  throw new AppError("not_found", "This account no longer exists.");
}

/** @throws AppError `validation_failed` */
export function quotaOf(form: URLSearchParams): AccountQuota {
  const read = (name: string) => (form.get(name) ?? "").replaceAll(/[\s,]/g, "");
  const memories = read("memories");
  if (!/^(\d{1,12})?$/.test(memories)) {
    throw new AppError(
      "validation_failed",
      "Enter a whole number of memories, or leave the field empty for no limit.",
    );
  }
  const bytes = read("bytes");
  const parsed = bytes === "" ? null : parseBytes(bytes.replace(/B$/i, ""));
  if (bytes !== "" && parsed === null) {
    throw new AppError(
      "validation_failed",
      "Enter bytes of text such as 20M or 1G, or leave the field empty for no limit.",
    );
  }
  return { memories: memories === "" ? null : Number(memories), bytes: parsed };
}
