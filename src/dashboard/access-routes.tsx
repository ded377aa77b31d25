/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { describeRevoked, revokeAccess } from "../access/revoke-access.ts";
import type { Account, Accounts } from "../accounts/accounts.ts";
import type { Quotas } from "../accounts/quotas.ts";
import { AppError } from "../errors.ts";
import type { RecordEvent } from "../http/record.ts";
import type { Keys } from "../keys/keys.ts";
import type { Memories } from "../memories/memories.ts";
import type { Grants } from "../oauth/grants.ts";
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import { SIGN_IN_PATH } from "../sign-in/paths.ts";
import type { PendingSignIns } from "../sign-in/pending-sign-ins.ts";
import type { Sessions } from "../sign-in/sessions.ts";
import { ACCOUNTS_PATH } from "./admin-paths.ts";
import { ConfirmPage } from "./confirm.tsx";
import { type Guard, PAGE_ROUTE } from "./guard.tsx";
import { type Member, MemberPage } from "./member-page.tsx";
import { PATHS } from "./navigation.tsx";
import { requireOwner, type Visit } from "./visit.ts";

/** Where a person ends all access to their own account. */
export const REVOKE_PATH = `${PATHS.account}/revoke`;

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

/** What ends access to an account: to one's own, and for the owner to anybody's. */
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
              You are signed out here too, and sign in again as before. Your memories stay. For what
              goes on needing access, make new keys and connect the apps again.
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
    throw new AppError("not_found", "There is no such account any more.");
  };

  const survey = async (id: string): Promise<Member> => {
    const account = await find(id);
    const [kept, bytes, quota, hasOwnQuota] = await Promise.all([
      memories.usage(id),
      memories.bytes(id),
      quotas.of(id),
      quotas.isSet(id),
    ]);
    return { ...account, kept, bytes, quota, hasOwnQuota };
  };

  const ask = (visit: Visit, title: string, confirm: string, children: Child): Markup => (
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
          return <MemberPage visit={visit} member={await survey(params.id)} />;
        }),
      PAGE_ROUTE,
    )
    .get(
      `${ACCOUNTS_PATH}/:id/revoke`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          requireOwner(visit);
          const { email } = await find(params.id);
          return ask(visit, "Revoke all access to this account?", "Revoke everything", [
            <p>
              Of <bdi>{email}</bdi>, at once:
            </p>,
            <RevokedList />,
            <p>The person can sign in again, and the memories stay.</p>,
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
          return ask(visit, "Disable this account?", "Disable the account", [
            <p>
              Nobody can use <bdi>{email}</bdi> until you enable it: nobody can sign in, and its
              keys rest. Apps have to be connected again after that. Its memories stay.
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
