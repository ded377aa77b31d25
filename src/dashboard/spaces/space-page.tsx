/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Role, Space } from "../../accounts/space.ts";
import type { SpaceInvitation } from "../../accounts/space-invitations.ts";
import type { Member } from "../../accounts/space-members.ts";
import { Button, ButtonLink, Copyable } from "../../pages/button.tsx";
import { Field, Select } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Moment } from "../../pages/moment.tsx";
import { listPage, Pager, Table } from "../../pages/table.tsx";
import { type AccountUsage, QuotaUse } from "../admin/quota-routes.tsx";
import { AccountTabs, HELP_PATH, SPACES_PATH, spacePath } from "../navigation.tsx";
import { Page, Setting } from "../page.tsx";
import type { Visit } from "../session.ts";
import { memberPath, ROLE_CHOICES } from "./change-pages.tsx";
import { ShowMemories } from "./space-choice.tsx";
import { ROLE_LABELS, ROLE_MEANINGS } from "./spaces-page.tsx";

/** Invitations shown, newest first. */
const MAX_INVITATIONS = 20;
/** Projects that the page of a space names. */
const MAX_PROJECTS = 20;

/** A space, as the page of one of its members shows it. */
interface SpaceDetails extends AccountUsage {
  readonly space: Space;
  readonly members: readonly Member[];
  /** Invitations that wait for an answer; none for who is no admin. */
  readonly invitations: readonly SpaceInvitation[];
}

interface Details extends SpaceDetails {
  visit: Visit;
}

/** The page of one space. */
export function SpacePage({
  link = null,
  problem,
  email = "",
  ...details
}: Details & {
  /** The link of the invitation that was just made. It is shown only this once. */
  link?: string | null;
  problem?: string;
  /** The address that was typed. */
  email?: string;
}) {
  const { visit, space, usage, quota } = details;
  const isAdmin = space.role === "admin";
  return (
    <Page
      visit={visit}
      section="account"
      title={space.name}
      above={<AccountTabs current={SPACES_PATH} />}
      actions={<ShowMemories space={space} token={visit.token} />}
      lead={`You can ${ROLE_MEANINGS[space.role]}.`}
      problem={problem}
    >
      {link !== null && (
        <section class="panel" aria-labelledby="link">
          <h2 id="link">Invitation link</h2>
          <Copyable text={link} label="the link" />
          <p>
            <strong>This link is shown only once.</strong> Send it to the person you invite, who
            needs an account on this server. It is valid for seven days, for one person.
          </p>
        </section>
      )}
      <Members {...details} />
      {isAdmin && <Invite {...details} email={email} />}
      <Projects space={space} />
      <Setting id="quota" title="Stored" about="How much the space stores, and what it may store.">
        <p>
          <QuotaUse usage={usage} quota={quota} />
        </p>
      </Setting>
      {isAdmin && <Rename visit={visit} space={space} />}
      <Setting
        id="leave"
        title="Leave"
        about="What you saved in the space stays there. Your access, and keys and apps that are bound to the space, end at once."
      >
        <div class="actions">
          <ButtonLink href={`${spacePath(space.id)}/leave`} kind="danger" asks={true}>
            Leave the space
          </ButtonLink>
          {isAdmin && (
            <ButtonLink href={`${spacePath(space.id)}/delete`} kind="danger">
              Delete the space…
            </ButtonLink>
          )}
        </div>
      </Setting>
    </Page>
  );
}

function Members({ visit, space, members }: Details) {
  const { items, ...pager } = listPage(members, spacePath(space.id), visit.url);
  return (
    <>
      <Table
        caption="Members"
        rows={items}
        columns={[
          {
            title: "Member",
            cell: ({ accountId, email }) => (
              <>
                <bdi>{email}</bdi>
                {accountId === visit.account.id && [" ", <span class="badge">you</span>]}
              </>
            ),
          },
          { title: "Role", cell: ({ role }) => ROLE_LABELS[role] },
          { title: "Since", cell: ({ joinedAt }) => <Moment at={joinedAt} /> },
        ]}
        {...(space.role === "admin" && {
          actions: ({ accountId, email }: Member) => (
            <a href={memberPath(space.id, "member", accountId)}>
              Change<span class="hidden-text"> {email}</span>
            </a>
          ),
        })}
      />
      <Pager label="Pages of members" {...pager} />
    </>
  );
}

function Invite({ visit, space, invitations, email }: Details & { email: string }) {
  const path = spacePath(space.id);
  return (
    <>
      <Setting
        id="invite"
        title="Invite somebody"
        about="With an address, the account that has it finds the invitation on its page of spaces. The link works too. The server sends no e-mail."
      >
        <PostForm action={`${path}/invite`} token={visit.token}>
          <div class="row">
            <Field
              label="E-mail address (optional)"
              name="email"
              type="email"
              value={email}
              hint="If empty, one person with the link can join."
              autocomplete="off"
              maxlength={254}
            />
            <Select label="Role" name="role" value="write" options={ROLE_CHOICES} />
          </div>
          <Button kind="main">Invite</Button>
        </PostForm>
      </Setting>
      {invitations.length > 0 && (
        <Table
          caption="Invitations that wait for an answer"
          rows={invitations.slice(-MAX_INVITATIONS).reverse()}
          columns={[
            {
              title: "Invitation for",
              cell: ({ email }) => (email === null ? "anyone with the link" : <bdi>{email}</bdi>),
            },
            { title: "Role", cell: ({ role }: { role: Role }) => ROLE_LABELS[role] },
            { title: "Expires", cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
          ]}
          actions={({ id, email }) => (
            <PostForm action={`${path}/revoke`} token={visit.token}>
              <input type="hidden" name="invitation" value={id} />
              <Button kind="danger">
                Revoke<span class="hidden-text"> the invitation for {email ?? "anyone"}</span>
              </Button>
            </PostForm>
          )}
        />
      )}
    </>
  );
}

function Projects({ space }: { space: Space }) {
  const { projects } = space;
  return (
    <Setting
      id="projects-of"
      title="Projects"
      about={
        <>
          What members' agents save for these projects goes into the space.{" "}
          <a href={`${HELP_PATH}/projects`}>About projects</a>
        </>
      }
    >
      {projects.length === 0 ? (
        <p class="faint">No project lives in this space.</p>
      ) : (
        <ul>
          {projects.slice(0, MAX_PROJECTS).map((project) => (
            <li>
              <bdi>{project}</bdi>
            </li>
          ))}
          {projects.length > MAX_PROJECTS && (
            <li>{`and ${projects.length - MAX_PROJECTS} more`}</li>
          )}
        </ul>
      )}
      {space.role === "admin" && (
        <ButtonLink href={`${spacePath(space.id)}/projects`}>Add or remove projects</ButtonLink>
      )}
    </Setting>
  );
}

function Rename({ visit, space }: { visit: Visit; space: Space }) {
  return (
    <Setting id="rename" title="Rename" about="Agents that name the space must use the new name.">
      <PostForm action={`${spacePath(space.id)}/rename`} token={visit.token}>
        <Field
          label="New name"
          name="name"
          value={space.name}
          required={true}
          maxlength={64}
          autocomplete="off"
        />
        <Button>Rename</Button>
      </PostForm>
    </Setting>
  );
}
