/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Account } from "../accounts/accounts.ts";
import type { Invitation } from "../accounts/invitations.ts";
import type { AccountQuota } from "../accounts/quotas.ts";
import { Button, Copyable } from "../pages/button.tsx";
import { Field } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { Pager, Table } from "../pages/table.tsx";
import { PostForm } from "../sign-in/form.tsx";
import { ACCOUNTS_PATH, INVITATIONS_PATH } from "./admin-paths.ts";
import type { ListPage } from "./list-page.ts";
import { PATHS } from "./navigation.tsx";
import { sizeText } from "./number-text.ts";
import { Page } from "./page.tsx";
import { type Kept, QuotaUse, UsualQuota } from "./quota-use.tsx";
import { Setting } from "./setting.tsx";
import { AdminTabs } from "./tabs.tsx";
import type { Visit } from "./visit.ts";

/** Invitations that are shown, the newest: others hold as well, for a week at the most. */
const MAX_INVITATIONS = 20;

/** What the owner sees of the whole server. */
export interface Overview {
  /** Those of one page of the list. */
  readonly accounts: readonly (Account & {
    /** On disk. */
    readonly bytes: number;
    readonly kept: Kept;
    readonly quota: AccountQuota | null;
  })[];
  /** The pages around it. */
  readonly ways: Pick<ListPage<Account>, "previous" | "next">;
  readonly invitations: readonly Invitation[];
  /** What members may keep for whom nothing is set. */
  readonly usualQuota: AccountQuota | null;
}

/** The owner's page: who has an account, what each keeps, and who is invited. */
export function AdminPage({
  visit,
  overview,
  invitationLink = null,
  problem,
  email = "",
}: {
  visit: Visit;
  overview: Overview;
  /** The link of an invitation that was just made, to be shown this one time. */
  invitationLink?: string | null;
  problem?: string;
  /** What the form was sent with. */
  email?: string;
}): Markup {
  const { accounts, ways, invitations, usualQuota } = overview;
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
          <h2 id="link">The invitation's link</h2>
          <Copyable text={invitationLink} label="the link" />
          <p>
            <strong>This is the only time that it is shown.</strong> Send it to the person whom you
            invite: whoever has it first can make an account with it.
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
                  since <Moment at={createdAt} />
                </span>
              </>
            ),
          },
          {
            title: "Keeps",
            isNumber: true,
            cell: ({ kept, quota }) => <QuotaUse kept={kept} quota={quota} />,
          },
          { title: "On disk", isNumber: true, cell: ({ bytes }) => sizeText(bytes) },
        ]}
      />
      <Pager label="Pages of accounts" {...ways} />
      <UsualQuota quota={usualQuota} />
      <Setting
        id="invite"
        title="Invite somebody"
        about="An invitation is a link for one account, and holds for seven days. No mail is sent."
      >
        <PostForm action={INVITATIONS_PATH} token={token}>
          <Field
            label="E-mail address (optional)"
            name="email"
            type="email"
            value={email}
            hint="The account gets this address; without it, the person chooses"
            autocomplete="off"
            maxlength={254}
          />
          <Button kind="main">Make a link</Button>
        </PostForm>
      </Setting>
      {invitations.length > 0 && (
        <Table
          caption="Invitations that nobody has used"
          rows={invitations.slice(-MAX_INVITATIONS).reverse()}
          columns={[
            {
              title: "Invitation for",
              isHeader: true,
              cell: ({ email }) => (email === null ? "anyone with the link" : <bdi>{email}</bdi>),
            },
            { title: "Made", cell: ({ createdAt }) => <Moment at={createdAt} /> },
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
