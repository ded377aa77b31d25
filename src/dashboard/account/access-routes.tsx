/** @jsxRuntime automatic @jsxImportSource #pages */
import { describeRevoked, revokeAccess } from "../../access/revoke-access.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { SIGN_IN_PATH } from "../../sign-in/paths.ts";
import { type Member, MemberPage } from "../admin/member-page.tsx";
import { findExisting, readUsage } from "../admin/quota-routes.tsx";
import { ACCOUNTS_PATH, PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";

/** The page on which people revoke all access to their own account. */
const REVOKE_PATH = `${PATHS.account}/revoke`;

/** Revokes all access to the person's own account. */
export function addOwnAccessPage({ pages, record, ...stores }: Parts): void {
  pages.confirmed(
    REVOKE_PATH,
    "account",
    () => ({
      title: "Revoke all access to your account?",
      confirm: "Revoke everything",
      cancel: PATHS.account,
      text: (
        <>
          <RevokedList />
          <p>
            You are signed out in this browser too, and can sign in again. Your memories stay.
            Create new keys and connect apps again where you still need them.
          </p>
        </>
      ),
    }),
    async ({ account: { id }, request }) => {
      const { keys, apps, sessions } = await revokeAccess(id, stores);
      record(request, "access_revoked", { accountId: id, amount: keys + apps + sessions });
      return { to: SIGN_IN_PATH };
    },
  );
}

/** The owner's page of each account, with the forms that revoke its access and disable it. */
export function addMemberPages({
  pages: { owner: pages },
  record,
  memories,
  quotas,
  ...stores
}: Parts): void {
  const { accounts } = stores;

  const readMember = async (id: string): Promise<Member> => {
    const account = await findExisting(accounts, id);
    const [usage, hasOwnQuota] = await Promise.all([
      readUsage(id, { memories, quotas }),
      quotas.isSet(id),
    ]);
    return { ...account, ...usage, hasOwnQuota };
  };

  pages.get(`${ACCOUNTS_PATH}/:id`, async (visit, id) => (
    <MemberPage visit={visit} member={await readMember(id)} />
  ));
  pages.confirmed(
    `${ACCOUNTS_PATH}/:id/revoke`,
    "admin",
    async (_, id) => ({
      title: "Revoke all access to this account?",
      confirm: "Revoke everything",
      cancel: `${ACCOUNTS_PATH}/${id}`,
      text: (
        <>
          <p>
            This takes effect for <bdi>{(await findExisting(accounts, id)).email}</bdi> at once:
          </p>
          <RevokedList />
          <p>The person can sign in again. The memories stay.</p>
        </>
      ),
    }),
    async ({ account, request }, _, id) => {
      const { email } = await findExisting(accounts, id);
      const revoked = await revokeAccess(id, stores);
      const amount = revoked.keys + revoked.apps + revoked.sessions;
      record(request, "access_revoked", { accountId: id, actorId: account.id, amount });
      if (id === account.id) return { to: SIGN_IN_PATH };
      return { to: `${ACCOUNTS_PATH}/${id}`, notice: `${email}: ${describeRevoked(revoked)}.` };
    },
  );
  pages.confirmed(
    `${ACCOUNTS_PATH}/:id/disable`,
    "admin",
    async (_, id) => ({
      title: "Disable this account?",
      confirm: "Disable the account",
      cancel: `${ACCOUNTS_PATH}/${id}`,
      text: (
        <p>
          Until you enable <bdi>{(await findExisting(accounts, id)).email}</bdi> again, nobody can
          sign in to it and its keys do not work. Afterwards its apps must be connected again. Its
          memories stay.
        </p>
      ),
    }),
    async ({ account, request }, _, id) => {
      const { email } = await findExisting(accounts, id);
      await accounts.disable(id);
      record(request, "account_disabled", { accountId: id, actorId: account.id });
      return { to: `${ACCOUNTS_PATH}/${id}`, notice: `${email} is disabled.` };
    },
  );
  pages.post(`${ACCOUNTS_PATH}/:id/enable`, async ({ account, request }, _, id) => {
    const { email } = await findExisting(accounts, id);
    await accounts.enable(id);
    record(request, "account_enabled", { accountId: id, actorId: account.id });
    return { to: `${ACCOUNTS_PATH}/${id}`, notice: `${email} is enabled.` };
  });
}

function RevokedList(): Markup {
  return (
    <ul>
      <li>all API keys stop working</li>
      <li>all connected apps are disconnected</li>
      <li>all browsers are signed out</li>
    </ul>
  );
}
