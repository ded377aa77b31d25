/** @jsxRuntime automatic @jsxImportSource #pages */
import { describeRevoked, revokeAccess } from "../../access/revoke-access.ts";
import type { Account } from "../../accounts/account.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { Field } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Moment } from "../../pages/moment.tsx";
import { SIGN_IN_PATH } from "../../sign-in/paths.ts";
import { sizeText } from "../../text/number-text.ts";
import { RevokedList } from "../account/account-routes.tsx";
import { ACCOUNTS_PATH, AdminTabs, PATHS } from "../navigation.tsx";
import { Fact, Page, Setting, TimeFact } from "../page.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { type AccountUsage, findExisting, QuotaUse, readUsage } from "./quota-routes.tsx";

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

/** An account, as the owner of the server sees it. */
interface Member extends Account, AccountUsage {
  /** Whether the quota was set for this account. */
  readonly hasOwnQuota: boolean;
}

/** The owner's page of one account: facts, quota, access and removal. */
function MemberPage({ visit, member }: { visit: Visit; member: Member }) {
  const { id, email, role, createdAt, disabledAt, usage, bytes, quota } = member;
  const path = `${ACCOUNTS_PATH}/${id}`;
  return (
    <Page visit={visit} section="admin" title={email} above={<AdminTabs current={PATHS.admin} />}>
      <Setting id="account" title="Account">
        <dl>
          <Fact name="Role">{role === "owner" ? "Owner of this server" : "Member"}</Fact>
          <TimeFact name="Created" at={createdAt} />
          {disabledAt !== null && (
            <Fact name="State">
              disabled <Moment at={disabledAt} />
            </Fact>
          )}
          <Fact name="On disk">{sizeText(bytes)}</Fact>
          <Fact name="Security log">
            <a href={`${PATHS.admin}/security?account=${id}`}>Events of this account</a>
          </Fact>
        </dl>
      </Setting>
      <Setting
        id="quota"
        title="Quota"
        about="How much the account may store. It applies to new writes and deletes nothing. Bytes count all text: contents, tags, names and metadata."
      >
        <p>
          <QuotaUse usage={usage} quota={quota} />
        </p>
        <QuotaForm action={`${path}/quota`} token={visit.token} quota={quota} />
        {member.hasOwnQuota && (
          <PostForm action={`${path}/quota/clear`} token={visit.token} class="setting-row">
            <Button kind="link">
              {role === "owner" ? "Remove the limit" : "Use the default quota of members"}
            </Button>
          </PostForm>
        )}
      </Setting>
      <Setting
        id="access"
        title="Access"
        about="Revoking ends the current keys, apps and sessions. Disabling keeps everyone out until you enable the account again."
      >
        <div class="actions">
          <ButtonLink href={`${path}/revoke`} kind="danger" asks={true}>
            Revoke all access
          </ButtonLink>
          {role !== "owner" && disabledAt === null && (
            <ButtonLink href={`${path}/disable`} kind="danger" asks={true}>
              Disable
            </ButtonLink>
          )}
          {disabledAt !== null && (
            <PostForm action={`${path}/enable`} token={visit.token}>
              <Button kind="main">Enable</Button>
            </PostForm>
          )}
        </div>
      </Setting>
      {role !== "owner" && (
        <Setting
          id="remove"
          title="Remove"
          about="Permanently removes the account with its memories, keys and apps."
        >
          <ButtonLink href={`${path}/remove`} kind="danger" asks={true}>
            Remove the account
          </ButtonLink>
        </Setting>
      )}
    </Page>
  );
}

/** The form that sets a quota. */
export function QuotaForm({
  action,
  token,
  quota,
}: { action: string; token: string } & Pick<AccountUsage, "quota">) {
  return (
    <PostForm action={action} token={token}>
      <div class="row">
        <Field
          label="Memories"
          name="memories"
          value={quota?.memories?.toString() ?? ""}
          hint="Empty: no limit"
          autocomplete="off"
          maxlength={20}
        />
        <Field
          label="Text"
          name="bytes"
          value={quota?.bytes?.toString() ?? ""}
          hint="Bytes such as 20M. Empty: no limit"
          autocomplete="off"
          maxlength={20}
        />
      </div>
      <Button>Set the quota</Button>
    </PostForm>
  );
}
