/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Account } from "../../accounts/account.ts";
import { AppError } from "../../errors.ts";
import { wholeAccount } from "../../keys/reach.ts";
import { listPage } from "../../pages/table.tsx";
import { JOIN_PATH } from "../../sign-in/paths.ts";
import { ACCOUNTS_PATH, INVITATIONS_PATH, PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { AdminPage, type Overview } from "./admin-page.tsx";
import { findExisting, readUsage } from "./quota-routes.tsx";

/** The owner's page of accounts and invitations, and the removal of accounts. */
export function addAdminPages({
  config,
  pages: { owner: pages },
  accounts,
  invitations,
  keys,
  grants,
  memories,
  quotas,
  shownOnce,
  record,
}: Parts): void {
  const { publicUrl } = config;

  const readOverview = async ({ url }: Visit): Promise<Overview> => {
    const { items, ...pager } = listPage(await accounts.list(), PATHS.admin, url);
    const withUsage = async (account: Account) => ({
      ...account,
      ...(await readUsage(account.id, { memories, quotas })),
    });
    return {
      accounts: await Promise.all(items.map(withUsage)),
      pager,
      invitations: await invitations.list(),
      defaultQuota: quotas.ofMembers,
    };
  };

  /** @throws AppError unless the account exists and belongs to a member: the owner's can't be removed */
  const findMember = async (id: string): Promise<Account> => {
    const account = await findExisting(accounts, id);
    if (account.role === "member") return account;
    throw new AppError(
      "forbidden",
      "The owner's account can't be removed. Make another account the owner first: ctxd user owner EMAIL.",
    );
  };

  pages.get(PATHS.admin, async (visit) => {
    const id = visit.url.searchParams.get("invited") ?? "";
    const secret = await shownOnce.take(visit.session, id);
    const link = secret === null ? null : `${publicUrl}${JOIN_PATH}/${secret}`;
    return <AdminPage visit={visit} overview={await readOverview(visit)} invitationLink={link} />;
  });
  pages.post(
    INVITATIONS_PATH,
    async (visit, form) => {
      const { secret, invitation } = await invitations.create(form.get("email")?.trim() || null);
      const facts = { accountId: visit.account.id, subjectId: invitation.id };
      record(visit.request, "invitation_created", facts);
      await shownOnce.put(visit.session, invitation.id, secret);
      return { to: `${PATHS.admin}?${new URLSearchParams({ invited: invitation.id })}` };
    },
    async (visit, problem, form) => {
      const email = form.get("email") ?? "";
      return (
        <AdminPage
          visit={visit}
          overview={await readOverview(visit)}
          problem={problem}
          email={email}
        />
      );
    },
  );
  pages.post(`${INVITATIONS_PATH}/:id/revoke`, async (visit, _, id) => {
    await invitations.revoke(id);
    const facts = { accountId: visit.account.id, subjectId: id };
    record(visit.request, "invitation_revoked", facts);
    return { to: PATHS.admin, notice: "The invitation is revoked." };
  });
  pages.confirmed(
    `${ACCOUNTS_PATH}/:id/remove`,
    "admin",
    async (_, id) => {
      const { email } = await findMember(id);
      const stats = await memories.stats(wholeAccount(id));
      const active = <T extends { revokedAt: Date | null }>(list: T[]) =>
        list.filter(({ revokedAt }) => revokedAt === null).length;
      return {
        title: "Remove this account?",
        confirm: "Remove the account permanently",
        cancel: `${ACCOUNTS_PATH}/${id}`,
        text: (
          <>
            <p>
              This permanently removes <bdi>{email}</bdi> with everything in the account:
            </p>
            <ul>
              <li>memories: {stats.memories.toLocaleString("en")}</li>
              <li>API keys: {active(await keys.list(id))}</li>
              <li>connected apps: {active(await grants.list(id))}</li>
            </ul>
            <p>You can't undo this. Existing backups still contain the account.</p>
          </>
        ),
      };
    },
    async (visit, _, id) => {
      const { email } = await findMember(id);
      await accounts.remove(id);
      record(visit.request, "account_removed", { accountId: id, actorId: visit.account.id });
      const notice = `${email} is removed, with all memories of the account.`;
      return { to: PATHS.admin, notice };
    },
  );
}
