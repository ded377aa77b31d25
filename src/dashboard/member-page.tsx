/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Account } from "../accounts/accounts.ts";
import type { AccountQuota } from "../accounts/quotas.ts";
import { Button, ButtonLink } from "../pages/button.tsx";
import { Field } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { PostForm } from "../sign-in/form.tsx";
import { ACCOUNTS_PATH } from "./admin-paths.ts";
import { PATHS } from "./navigation.tsx";
import { sizeText } from "./number-text.ts";
import { Page } from "./page.tsx";
import { type Kept, QuotaUse } from "./quota-use.tsx";
import { Setting } from "./setting.tsx";
import { AdminTabs } from "./tabs.tsx";
import type { Visit } from "./visit.ts";

/** An account, as the owner of the server knows it. */
export interface Member extends Account {
  readonly kept: Kept;
  /** On disk. */
  readonly bytes: number;
  readonly quota: AccountQuota | null;
  /** Whether that was set for this account alone. */
  readonly hasOwnQuota: boolean;
}

/** What the owner knows of an account, and can do about it. */
export function MemberPage({ visit, member }: { visit: Visit; member: Member }): Markup {
  const { id, email, role, createdAt, disabledAt, kept, bytes, quota } = member;
  const path = `${ACCOUNTS_PATH}/${id}`;
  return (
    <Page visit={visit} section="admin" title={email} above={<AdminTabs current={PATHS.admin} />}>
      <Setting id="account" title="Account">
        <dl>
          <dt>Role</dt>
          <dd>{role === "owner" ? "Owner of this server" : "Member"}</dd>
          <dt>Since</dt>
          <dd>
            <Moment at={createdAt} />
          </dd>
          {disabledAt !== null && (
            <>
              <dt>State</dt>
              <dd>
                disabled since <Moment at={disabledAt} />
              </dd>
            </>
          )}
          <dt>On disk</dt>
          <dd>{sizeText(bytes)}</dd>
          <dt>Security log</dt>
          <dd>
            <a href={`${PATHS.admin}/security?account=${id}`}>What has happened in this account</a>
          </dd>
        </dl>
      </Setting>
      <Setting
        id="quota"
        title="Quota"
        about="What the account may keep, from its next write on. What is there already stays. Bytes are those of all text: contents, tags, names and metadata."
      >
        <p>
          <QuotaUse kept={kept} quota={quota} />
        </p>
        <QuotaForm visit={visit} member={member} />
      </Setting>
      <Setting
        id="access"
        title="Access"
        about="Revoking ends its keys, apps and sessions once. Disabling keeps everybody out until you enable the account again."
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
          about="The account goes with all of its memories, keys and apps, for good."
        >
          <ButtonLink href={`${path}/remove`} kind="danger" asks={true}>
            Remove the account
          </ButtonLink>
        </Setting>
      )}
    </Page>
  );
}

function QuotaForm({ visit, member }: { visit: Visit; member: Member }): Markup {
  const { id, role, quota, hasOwnQuota } = member;
  const action = `${ACCOUNTS_PATH}/${id}/quota`;
  return (
    <>
      <PostForm action={action} token={visit.token}>
        <div class="row">
          <Field
            label="Memories"
            name="memories"
            value={quota?.memories?.toString() ?? ""}
            hint="Empty for any number"
            autocomplete="off"
            maxlength={20}
          />
          <Field
            label="Text"
            name="bytes"
            value={quota?.bytes?.toString() ?? ""}
            hint="Bytes such as 20M; empty for any"
            autocomplete="off"
            maxlength={20}
          />
        </div>
        <Button>Set the quota</Button>
      </PostForm>
      {hasOwnQuota && (
        <PostForm action={`${action}/clear`} token={visit.token} class="way">
          <Button kind="link">
            {role === "owner" ? "Limit nothing again" : "Let it keep again what members may"}
          </Button>
        </PostForm>
      )}
    </>
  );
}
