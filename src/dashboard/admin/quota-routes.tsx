/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Accounts } from "../../accounts/accounts.ts";
import type { AccountQuota, Quotas } from "../../accounts/quotas.ts";
import { parseBytes } from "../../config/setting-values.ts";
import { AppError } from "../../errors.ts";
import type { RecordEvent } from "../../http/record-event.ts";
import { quotaText } from "../account/quota-use.tsx";
import { type Guard, PAGE_ROUTE } from "../guard.tsx";
import { requireOwner } from "../visit.ts";
import { ACCOUNTS_PATH } from "./admin-paths.ts";

/** The forms with which the owner sets the quota of an account. */
export function createQuotaRoutes({
  guard,
  accounts,
  quotas,
  record,
}: {
  guard: Guard;
  accounts: Pick<Accounts, "find">;
  quotas: Pick<Quotas, "of" | "set" | "clear">;
  record: RecordEvent;
}) {
  const change = (
    request: Request,
    id: string,
    apply: (id: string, form: URLSearchParams) => Promise<void>,
  ) =>
    guard.act(request, async (visit, form) => {
      requireOwner(visit);
      const account = await accounts.find(id);
      if (!account) throw new AppError("not_found", "This account no longer exists.");
      await apply(account.id, form);
      record(request, "quota_changed", { accountId: account.id, actorId: visit.account.id });
      const notice = `${account.email} may store ${quotaText(await quotas.of(account.id))}.`;
      return { to: `${ACCOUNTS_PATH}/${account.id}`, notice };
    });

  return new Elysia()
    .post(
      `${ACCOUNTS_PATH}/:id/quota`,
      ({ request, params }) =>
        change(request, params.id, (id, form) => quotas.set(id, quotaOf(form))),
      PAGE_ROUTE,
    )
    .post(
      `${ACCOUNTS_PATH}/:id/quota/clear`,
      ({ request, params }) => change(request, params.id, quotas.clear),
      PAGE_ROUTE,
    );
}

/** @throws AppError `validation_failed` */
function quotaOf(form: URLSearchParams): AccountQuota {
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
