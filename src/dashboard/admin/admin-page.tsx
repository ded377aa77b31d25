/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Account } from "../../accounts/account.ts";
import type { Invitation } from "../../accounts/invitations.ts";
import type { AccountQuota } from "../../accounts/quotas.ts";
import { Button, Copyable } from "../../pages/button.tsx";
import { Field } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Moment } from "../../pages/moment.tsx";
import { type ListPage, Pager, Table } from "../../pages/table.tsx";
import { sizeText } from "../../text/number-text.ts";
import { ACCOUNTS_PATH, AdminTabs, INVITATIONS_PATH, PATHS } from "../navigation.tsx";
import { Page, Setting } from "../page.tsx";
import type { Visit } from "../session.ts";
import { type AccountUsage, DefaultQuota, QuotaUse } from "./quota-routes.tsx";

/** Invitations shown, newest first. Older ones stay valid for up to a week. */
const MAX_INVITATIONS = 20;

/** The accounts and invitations of the whole server. */
export interface Overview {
  /** One page of the list. */
  readonly accounts: readonly (Account & AccountUsage)[];
  /** Links to the pages before and after. */
  readonly pager: Pick<ListPage<Account>, "previous" | "next">;
  readonly invitations: readonly Invitation[];
  /** The quota of members without a quota of their own. */
  readonly defaultQuota: AccountQuota | null;
}

/** The owner's page of accounts, their use, and invitations. */
export function AdminPage({
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
}): Markup {
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
            isHeader: true,
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
              isHeader: true,
              cell: ({ email }) => (email === null ? "anyone with the link" : <bdi>{email}</bdi>),
            },
            { title: "Created", cell: ({ createdAt }) => <Moment at={createdAt} /> },
            { title: "Expires", cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
            {
              title: "Actions",
              isActions: true,
              cell: ({ id, email }) => (
                <PostForm action={`${INVITATIONS_PATH}/${id}/revoke`} token={token}>
                  <Button kind="danger">
                    Revoke<span class="hidden-text"> the invitation for {email ?? "anyone"}</span>
                  </Button>
                </PostForm>
              ),
            },
          ]}
        />
      )}
    </Page>
  );
}
