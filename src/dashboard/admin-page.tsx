/** @jsxRuntime automatic @jsxImportSource #pages */
import { version } from "../../package.json" with { type: "json" };
import type { Account } from "../accounts/accounts.ts";
import type { Invitation } from "../accounts/invitations.ts";
import type { CheckResult } from "../http/health.ts";
import { Button, ButtonLink, Copyable } from "../pages/button.tsx";
import { Field } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { Pager, Table } from "../pages/table.tsx";
import { PostForm } from "../sign-in/form.tsx";
import type { Visit } from "./guard.tsx";
import type { ListPage } from "./list-page.ts";
import { PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";
import { sizeText } from "./size.ts";

export const ACCOUNTS_PATH = `${PATHS.admin}/accounts`;
export const INVITATIONS_PATH = `${PATHS.admin}/invitations`;

/** Invitations that are shown, the newest: others hold as well, for a week at the most. */
const MAX_INVITATIONS = 20;

/** What the owner sees of the whole server. */
export interface Overview {
  /** Those of one page of the list. */
  readonly accounts: readonly (Account & { readonly bytes: number })[];
  /** The pages around it. */
  readonly ways: Pick<ListPage<Account>, "previous" | "next">;
  readonly invitations: readonly Invitation[];
  readonly health: Readonly<Record<string, CheckResult>>;
  readonly publicUrl: string;
}

/** The owner's page: who has an account, who is invited, and how the server is. */
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
  const { accounts, ways, invitations, health, publicUrl } = overview;
  const { token } = visit;
  return (
    <Page visit={visit} section="admin" title="Admin" problem={problem}>
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
      <section aria-labelledby="accounts">
        <h2 id="accounts">Accounts</h2>
        <Table
          caption="Accounts on this server"
          rows={accounts}
          columns={[
            { title: "E-mail address", isHeader: true, cell: ({ email }) => <bdi>{email}</bdi> },
            {
              title: "Role",
              cell: ({ role, disabledAt }) => (
                <>
                  {role} {disabledAt !== null && <span class="badge">disabled</span>}
                </>
              ),
            },
            { title: "Since", cell: ({ createdAt }) => <Moment at={createdAt} /> },
            { title: "Memories on disk", isNumber: true, cell: ({ bytes }) => sizeText(bytes) },
            {
              title: "Actions",
              isActions: true,
              cell: ({ id, email, role }) => (
                <>
                  <ButtonLink href={`${ACCOUNTS_PATH}/${id}`}>
                    Access<span class="hidden-text"> of {email}</span>
                  </ButtonLink>{" "}
                  {role !== "owner" && (
                    <ButtonLink href={`${ACCOUNTS_PATH}/${id}/remove`} kind="danger" asks={true}>
                      Remove<span class="hidden-text"> {email}</span>
                    </ButtonLink>
                  )}
                </>
              ),
            },
          ]}
        />
        <Pager label="Pages of accounts" {...ways} />
      </section>
      <section class="panel" aria-labelledby="invite">
        <h2 id="invite">Invite somebody</h2>
        <p class="faint">
          An invitation is a link for one account, and holds for seven days. No mail is sent.
        </p>
        <PostForm action={INVITATIONS_PATH} token={token}>
          <div class="row">
            <Field
              label="E-mail address (optional)"
              name="email"
              type="email"
              value={email}
              hint="The account gets this address; without it, the person chooses"
              autocomplete="off"
              maxlength={254}
            />
          </div>
          <Button kind="main">Make a link</Button>
        </PostForm>
      </section>
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
      <section class="panel" aria-labelledby="server">
        <h2 id="server">Server</h2>
        <dl>
          <dt>Version</dt>
          <dd>{version}</dd>
          <dt>Address</dt>
          <dd>{publicUrl}</dd>
          <dt>Security log</dt>
          <dd>
            <a href={`${PATHS.admin}/security`}>Who has signed in, and what was changed</a>
          </dd>
          {Object.entries(health).map(([name, result]) => (
            <>
              <dt>{name.charAt(0).toUpperCase() + name.slice(1)}</dt>
              <dd>{result === "failed" ? <strong>failed</strong> : result}</dd>
            </>
          ))}
        </dl>
      </section>
    </Page>
  );
}
