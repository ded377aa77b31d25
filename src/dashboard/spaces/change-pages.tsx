/** @jsxRuntime automatic @jsxImportSource #pages */
import { ROLES, type Space } from "../../accounts/space.ts";
import type { Member } from "../../accounts/space-members.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { Select, TextArea } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import { AccountTabs, SPACES_PATH, spacePath } from "../navigation.tsx";
import { Page, Setting } from "../page.tsx";
import type { Visit } from "../session.ts";
import { ROLE_LABELS, ROLE_MEANINGS } from "./spaces-page.tsx";

/** The choices of a role in a form. */
export const ROLE_CHOICES = ROLES.map((role) => [role, ROLE_LABELS[role]] as const);

/** The page that changes a member, or that asks before removing one. */
export function memberPath(spaceId: string, page: "member" | "remove", accountId: string): string {
  return `${spacePath(spaceId)}/${page}?${new URLSearchParams({ member: accountId })}`;
}

/** The page on which an admin changes the role of a member or removes one. */
export function MemberPage({
  visit,
  space,
  member: { accountId, email, role },
}: {
  visit: Visit;
  space: Space;
  member: Member;
}) {
  return (
    <Page
      visit={visit}
      section="account"
      title={email}
      above={<AccountTabs current={SPACES_PATH} />}
      lead={
        <>
          In the space{" "}
          <a href={spacePath(space.id)}>
            <bdi>{space.name}</bdi>
          </a>
        </>
      }
    >
      <Setting id="role-of" title="Role" about="It counts from the next request on.">
        <PostForm action={`${spacePath(space.id)}/role`} token={visit.token}>
          <input type="hidden" name="member" value={accountId} />
          <Select label="Role" name="role" value={role} options={ROLE_CHOICES} />
          <Button>Change the role</Button>
        </PostForm>
        <ul>
          {ROLES.map((each) => (
            <li>{`${ROLE_LABELS[each]}: can ${ROLE_MEANINGS[each]}.`}</li>
          ))}
        </ul>
      </Setting>
      {accountId !== visit.account.id && (
        <Setting
          id="remove"
          title="Remove"
          about="Access ends at once. What the member saved in the space stays there."
        >
          <ButtonLink href={memberPath(space.id, "remove", accountId)} kind="danger" asks={true}>
            Remove from the space
          </ButtonLink>
        </Setting>
      )}
    </Page>
  );
}

/** The page on which an admin chooses the projects that live in a space. */
export function ProjectsOfSpacePage({
  visit,
  space,
  typed = space.projects.join("\n"),
  problem,
}: {
  visit: Visit;
  space: Space;
  typed?: string;
  problem?: string;
}) {
  return (
    <Page
      visit={visit}
      section="account"
      title="Projects of the space"
      above={<AccountTabs current={SPACES_PATH} />}
      problem={problem}
    >
      <PostForm action={`${spacePath(space.id)}/projects`} token={visit.token} class="panel slim">
        <TextArea
          label="Projects, one per line"
          name="projects"
          rows={10}
          value={typed}
          hint="Such as acme/web. What was saved before stays where it is: move it from the project's page."
        />
        <div class="actions">
          <Button kind="main">Save the projects</Button>
          <ButtonLink href={spacePath(space.id)}>Cancel</ButtonLink>
        </div>
      </PostForm>
    </Page>
  );
}
