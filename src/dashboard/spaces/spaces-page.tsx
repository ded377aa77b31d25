/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Role, Space } from "../../accounts/space.ts";
import type { SpaceInvitation } from "../../accounts/space-invitations.ts";
import { Button } from "../../pages/button.tsx";
import { Field } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import { EmptyState } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { listPage, Pager, Table } from "../../pages/table.tsx";
import { peopleCount } from "../../text/number-text.ts";
import { AccountTabs, SPACES_PATH, spacePath } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../session.ts";

/** What people call the roles. */
export const ROLE_LABELS: Readonly<Record<Role, string>> = {
  read: "Reader",
  write: "Writer",
  admin: "Admin",
};

/** What a role allows, as the end of a sentence. */
export const ROLE_MEANINGS: Readonly<Record<Role, string>> = {
  read: "read its memories",
  write: "read, save, change and delete its memories",
  admin: "read, save, change and delete its memories, and manage its members and projects",
};

/** A space or an invitation with the number of its members. */
type Counted<Row> = Row & { readonly people: number };

/** The page of a person's spaces, and of the invitations that wait for an answer. */
export function SpacesPage({
  visit,
  spaces,
  invitations,
  problem,
  name = "",
}: {
  visit: Visit;
  spaces: readonly Counted<Space>[];
  invitations: readonly Counted<SpaceInvitation>[];
  problem?: string;
  /** The name that was typed. */
  name?: string;
}) {
  const { items, ...pager } = listPage(spaces, SPACES_PATH, visit.url);
  return (
    <Page
      visit={visit}
      section="account"
      title="Spaces"
      above={<AccountTabs current={SPACES_PATH} />}
      lead="A space has memories that several people share. Your own memories stay yours."
      problem={problem}
    >
      {invitations.length > 0 && <Invitations visit={visit} invitations={invitations} />}
      {spaces.length === 0 ? (
        <EmptyState title="You are in no space">
          <p>Make one and invite others, or ask somebody to invite you.</p>
        </EmptyState>
      ) : (
        <Table
          caption="Your spaces"
          rows={items}
          columns={[
            {
              title: "Space",
              cell: ({ id, name }) => (
                <a href={spacePath(id)}>
                  <bdi>{name}</bdi>
                </a>
              ),
            },
            { title: "Your role", cell: ({ role }) => ROLE_LABELS[role] },
            { title: "Members", cell: ({ people }) => peopleCount(people) },
          ]}
        />
      )}
      <Pager label="Pages of spaces" {...pager} />
      <PostForm action={SPACES_PATH} token={visit.token} class="panel slim">
        <h2>Make a space</h2>
        <Field
          label="Name"
          name="name"
          value={name}
          hint="At most 64 characters. You become its admin."
          required={true}
          maxlength={64}
          autocomplete="off"
        />
        <Button kind="main">Make the space</Button>
      </PostForm>
    </Page>
  );
}

function Invitations({
  visit,
  invitations,
}: {
  visit: Visit;
  invitations: readonly Counted<SpaceInvitation>[];
}) {
  return (
    <section class="panel" aria-labelledby="invitations">
      <h2 id="invitations">You are invited</h2>
      <Table
        caption="Invitations that wait for your answer"
        rows={invitations}
        columns={[
          { title: "Space", cell: ({ spaceName }) => <bdi>{spaceName}</bdi> },
          { title: "Role", cell: ({ role }) => ROLE_LABELS[role] },
          { title: "Members", cell: ({ people }) => peopleCount(people) },
          { title: "Expires", cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
        ]}
        actions={({ id, spaceName }) => (
          <div class="actions">
            {[
              ["accept", "Join"],
              ["decline", "Decline"],
            ].map(([answer, label]) => (
              <PostForm action={`${SPACES_PATH}/invitations/${id}/${answer}`} token={visit.token}>
                <Button kind={answer === "accept" ? "main" : "plain"}>
                  {label}
                  <span class="hidden-text"> {spaceName}</span>
                </Button>
              </PostForm>
            ))}
          </div>
        )}
      />
    </section>
  );
}

/** The page that answers the link of an invitation. */
export function JoinSpacePage({
  visit,
  invitation: { spaceName, role, people },
}: {
  visit: Visit;
  invitation: Counted<SpaceInvitation>;
}) {
  return (
    <Page visit={visit} section="account" title="Join a space">
      <PostForm action={visit.url.pathname} token={visit.token} class="panel slim">
        <p>
          You are invited into{" "}
          <strong>
            <bdi>{spaceName}</bdi>
          </strong>
          {`. You could then ${ROLE_MEANINGS[role]}.`}
        </p>
        {role !== "read" && (
          <p>{`${peopleCount(people + 1)}, you included, will see what you save there.`}</p>
        )}
        <p>
          Your own memories stay yours: nobody there sees them. Your account is{" "}
          <bdi>{visit.account.email}</bdi>.
        </p>
        <div class="actions">
          <Button kind="main">Join the space</Button>
          <a class="button plain" href={SPACES_PATH}>
            Not now
          </a>
        </div>
      </PostForm>
    </Page>
  );
}
