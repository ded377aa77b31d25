/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { describeRevoked, revokeAccess } from "../../access/revoke-access.ts";
import type { Account } from "../../accounts/account.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import type { Quotas } from "../../accounts/quotas.ts";
import { AppError } from "../../errors.ts";
import type { RecordEvent } from "../../http/record-event.ts";
import type { Keys } from "../../keys/keys.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import type { Grants } from "../../oauth/grants.ts";
import type { Child, Markup } from "../../pages/jsx-runtime.ts";
import { SIGN_IN_PATH } from "../../sign-in/paths.ts";
import type { PendingSignIns } from "../../sign-in/second-step/second-step.ts";
import type { Sessions } from "../../sign-in/sessions/sessions.ts";
import { type Member, MemberPage } from "../admin/member-page.tsx";
import { readUsage } from "../admin/quota-routes.tsx";
import { ConfirmPage } from "../confirm.tsx";
import { type Guard, PAGE_ROUTE } from "../guard.tsx";
import { ACCOUNTS_PATH, PATHS } from "../navigation.tsx";
import { requireOwner, type Visit } from "../session.ts";

/** The page on which people revoke all access to their own account. */
const REVOKE_PATH = `${PATHS.account}/revoke`;

interface Dependencies {
  guard: Guard;
  accounts: Pick<Accounts, "find" | "disable" | "enable">;
  keys: Pick<Keys, "revokeAll">;
  grants: Pick<Grants, "revokeAll">;
  pendingSignIns: Pick<PendingSignIns, "endAll">;
  sessions: Pick<Sessions, "revokeAll">;
  memories: Pick<Memories, "usage" | "bytes">;
  quotas: Pick<Quotas, "of" | "isSet">;
  record: RecordEvent;
}

/** Revokes access to an account: people for their own account, the owner for every account. */
export function createAccessRoutes(dependencies: Dependencies) {
  return new Elysia().use(createOwnRoutes(dependencies)).use(createAdminRoutes(dependencies));
}

function createOwnRoutes({ guard, record, ...stores }: Dependencies) {
  return new Elysia()
    .get(
      REVOKE_PATH,
      ({ request }) =>
        guard.show(request, (visit) => (
          <ConfirmPage
            visit={visit}
            section="account"
            title="Revoke all access to your account?"
            action={REVOKE_PATH}
            confirm="Revoke everything"
            cancel={PATHS.account}
          >
            <RevokedList />
            <p>
              You are signed out in this browser too, and can sign in again. Your memories stay.
              Create new keys and connect apps again where you still need them.
            </p>
          </ConfirmPage>
        )),
      PAGE_ROUTE,
    )
    .post(
      REVOKE_PATH,
      ({ request }) =>
        guard.act(request, async ({ account: { id } }) => {
          const { keys, apps, sessions } = await revokeAccess(id, stores);
          record(request, "access_revoked", { accountId: id, amount: keys + apps + sessions });
          return { to: SIGN_IN_PATH };
        }),
      PAGE_ROUTE,
    );
}

function createAdminRoutes({ guard, record, memories, quotas, ...stores }: Dependencies) {
  const { accounts } = stores;

  const find = async (id: string): Promise<Account> => {
    const account = await accounts.find(id);
    if (account) return account;
    throw new AppError("not_found", "This account no longer exists.");
  };

  const readMember = async (id: string): Promise<Member> => {
    const account = await find(id);
    const [usage, hasOwnQuota] = await Promise.all([
      readUsage(id, { memories, quotas }),
      quotas.isSet(id),
    ]);
    return { ...account, ...usage, hasOwnQuota };
  };

  const question = (visit: Visit, title: string, confirm: string, children: Child): Markup => (
    <ConfirmPage
      visit={visit}
      section="admin"
      title={title}
      action={visit.url.pathname}
      confirm={confirm}
      cancel={visit.url.pathname.replace(/\/\w+$/, "")}
    >
      {children}
    </ConfirmPage>
  );

  return new Elysia()
    .get(
      `${ACCOUNTS_PATH}/:id`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          requireOwner(visit);
          return <MemberPage visit={visit} member={await readMember(params.id)} />;
        }),
      PAGE_ROUTE,
    )
    .get(
      `${ACCOUNTS_PATH}/:id/revoke`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          requireOwner(visit);
          const { email } = await find(params.id);
          return question(visit, "Revoke all access to this account?", "Revoke everything", [
            <p>
              This takes effect for <bdi>{email}</bdi> at once:
            </p>,
            <RevokedList />,
            <p>The person can sign in again. The memories stay.</p>,
          ]);
        }),
      PAGE_ROUTE,
    )
    .post(
      `${ACCOUNTS_PATH}/:id/revoke`,
      ({ request, params }) =>
        guard.act(request, async (visit) => {
          requireOwner(visit);
          const { id, email } = await find(params.id);
          const revoked = await revokeAccess(id, stores);
          const amount = revoked.keys + revoked.apps + revoked.sessions;
          record(request, "access_revoked", { accountId: id, actorId: visit.account.id, amount });
          if (id === visit.account.id) return { to: SIGN_IN_PATH };
          return { to: `${ACCOUNTS_PATH}/${id}`, notice: `${email}: ${describeRevoked(revoked)}.` };
        }),
      PAGE_ROUTE,
    )
    .get(
      `${ACCOUNTS_PATH}/:id/disable`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          requireOwner(visit);
          const { email } = await find(params.id);
          return question(visit, "Disable this account?", "Disable the account", [
            <p>
              Until you enable <bdi>{email}</bdi> again, nobody can sign in to it and its keys do
              not work. Afterwards its apps must be connected again. Its memories stay.
            </p>,
          ]);
        }),
      PAGE_ROUTE,
    )
    .post(
      `${ACCOUNTS_PATH}/:id/disable`,
      ({ request, params }) =>
        guard.act(request, async (visit) => {
          requireOwner(visit);
          const { id, email } = await find(params.id);
          await accounts.disable(id);
          record(request, "account_disabled", { accountId: id, actorId: visit.account.id });
          return { to: `${ACCOUNTS_PATH}/${id}`, notice: `${email} is disabled.` };
        }),
      PAGE_ROUTE,
    )
    .post(
      `${ACCOUNTS_PATH}/:id/enable`,
      ({ request, params }) =>
        guard.act(request, async (visit) => {
          requireOwner(visit);
          const { id, email } = await find(params.id);
          await accounts.enable(id);
          record(request, "account_enabled", { accountId: id, actorId: visit.account.id });
          return { to: `${ACCOUNTS_PATH}/${id}`, notice: `${email} is enabled.` };
        }),
      PAGE_ROUTE,
    );
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
