/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Account } from "../../accounts/account.ts";
import { AppError } from "../../errors.ts";
import { wholeAccount } from "../../keys/reach.ts";
import { Button, Copyable } from "../../pages/button.tsx";
import { Field } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Moment } from "../../pages/moment.tsx";
import { listPage, Pager, Table } from "../../pages/table.tsx";
import { JOIN_PATH } from "../../sign-in/paths.ts";
import { sizeText } from "../../text/number-text.ts";
import { ACCOUNTS_PATH, AdminTabs, INVITATIONS_PATH, PATHS } from "../navigation.tsx";
import { Page, Setting } from "../page.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { DefaultQuota, findExisting, QuotaUse, readUsage } from "./quota-routes.tsx";

/** The owner's page of accounts and invitations, and the removal of accounts. */
export function addAdminPages(parts: Parts): void {
  const { config, accounts, invitations, keys, grants, memories, shownOnce, record } = parts;
  const pages = parts.pages.owner;

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
    const link = secret === null ? null : `${config.publicUrl}${JOIN_PATH}/${secret}`;
    const overview = await readOverview(parts, visit);
    return <AdminPage visit={visit} overview={overview} invitationLink={link} />;
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
          overview={await readOverview(parts, visit)}
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

/** Invitations shown, newest first. Older ones stay valid for up to a week. */
const MAX_INVITATIONS = 20;

type Overview = Awaited<ReturnType<typeof readOverview>>;

async function readOverview({ accounts, memories, quotas, invitations }: Parts, { url }: Visit) {
  // One page of the list, with links to the pages before and after.
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
}

function AdminPage({
  visit,
  overview,
  invitationLink = null,
  problem,
  email = "",
}: {
  visit: Visit;
  overview: Overview;
  /** The link of the invitation that was just created. It is shown only this once. */
  invitationLink?: string | null;
  problem?: string;
  email?: string;
}) {
  const { accounts, pager, invitations, defaultQuota } = overview;
  const { token } = visit;
  return (
    <Page
      visit={visit}
      section="admin"
      title="Accounts"
      above={<AdminTabs current={PATHS.admin} />}
      problem={problem}
    >
      {invitationLink !== null && (
        <section class="panel" aria-labelledby="link">
          <h2 id="link">Invitation link</h2>
          <Copyable text={invitationLink} label="the link" />
          <p>
            <strong>This link is shown only once.</strong> Send it to the person you invite. The
            first person who opens it can create an account.
          </p>
        </section>
      )}
      <Table
        caption="Accounts on this server"
        rows={accounts}
        columns={[
          {
            title: "Account",
            cell: ({ id, email, role, createdAt, disabledAt }) => (
              <>
                <a href={`${ACCOUNTS_PATH}/${id}`}>
                  <bdi>{email}</bdi>
                </a>{" "}
                {role === "owner" && <span class="badge">owner</span>}
                {disabledAt !== null && <span class="badge">disabled</span>}
                <span class="under">
                  created <Moment at={createdAt} />
                </span>
              </>
            ),
          },
          {
            title: "Stores",
            isNumber: true,
            cell: ({ usage, quota }) => <QuotaUse usage={usage} quota={quota} />,
          },
          { title: "On disk", isNumber: true, cell: ({ bytes }) => sizeText(bytes) },
        ]}
      />
      <Pager label="Pages of accounts" {...pager} />
      <DefaultQuota quota={defaultQuota} />
      <Setting
        id="invite"
        title="Invite somebody"
        about="An invitation is a link that creates one account. It is valid for seven days. The server sends no e-mail."
      >
        <PostForm action={INVITATIONS_PATH} token={token}>
          <Field
            label="E-mail address (optional)"
            name="email"
            type="email"
            value={email}
            hint="The account gets this address. If empty, the person chooses one."
            autocomplete="off"
            maxlength={254}
          />
          <Button kind="main">Create a link</Button>
        </PostForm>
      </Setting>
      {invitations.length > 0 && (
        <Table
          caption="Unused invitations"
          rows={invitations.slice(-MAX_INVITATIONS).reverse()}
          columns={[
            {
              title: "Invitation for",
              cell: ({ email }) => (email === null ? "anyone with the link" : <bdi>{email}</bdi>),
            },
            { title: "Created", cell: ({ createdAt }) => <Moment at={createdAt} /> },
            { title: "Expires", cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
          ]}
          actions={({ id, email }) => (
            <PostForm action={`${INVITATIONS_PATH}/${id}/revoke`} token={token}>
              <Button kind="danger">
                Revoke<span class="hidden-text"> the invitation for {email ?? "anyone"}</span>
              </Button>
            </PostForm>
          )}
        />
      )}
    </Page>
  );
}
