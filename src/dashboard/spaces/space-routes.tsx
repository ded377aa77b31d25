/** @jsxRuntime automatic @jsxImportSource #pages */
import { findSpace, ROLES, type Role, type Space } from "../../accounts/space.ts";
import { unknownMember } from "../../accounts/space-members.ts";
import { AppError } from "../../errors.ts";
import { Field } from "../../pages/field.tsx";
import { invitationLink, spaceFacts } from "../../spaces/route-parts.ts";
import { memoryCount, peopleCount } from "../../text/number-text.ts";
import { readUsage } from "../admin/quota-routes.tsx";
import { SPACES_PATH, spacePath } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { MemberPage, ProjectsOfSpacePage } from "./change-pages.tsx";
import { SpacePage } from "./space-page.tsx";
import { ROLE_LABELS } from "./spaces-page.tsx";

const OF_SPACE = `${SPACES_PATH}/:id`;

/** The page of a space, and the forms about what it is called and which projects live in it. */
export function addSpacePages(parts: Parts): void {
  const { config, pages, spaces, spaceInvitations, shownOnce, memories, record } = parts;

  const page = async (
    visit: Visit,
    id: string,
    again: { link?: string | null; problem?: string; email?: string } = {},
  ) => {
    const space = findSpace(visit.spaces, id);
    const [members, invitations, usage] = await Promise.all([
      spaces.members(id),
      space.role === "admin" ? spaceInvitations.list(id) : [],
      readUsage(id, parts),
    ]);
    return <SpacePage visit={visit} {...{ space, members, invitations, ...usage, ...again }} />;
  };

  const change = async (
    { account, spaces: own, request }: Visit,
    id: string,
    wanted: Parameters<typeof spaces.change>[2],
  ) => {
    const changed = await spaces.change(account.id, findSpace(own, id).id, wanted);
    record(request, "space_changed", { accountId: account.id, ...spaceFacts({ id, ...changed }) });
    return changed;
  };

  pages.get(OF_SPACE, async (visit, id) => {
    const invited = visit.url.searchParams.get("invited") ?? "";
    const secret = await shownOnce.take(visit.session, invited);
    return page(visit, id, { link: secret && invitationLink(config.publicUrl, secret) });
  });
  pages.post(
    `${OF_SPACE}/rename`,
    async (visit, form, id) => {
      const { name } = await change(visit, id, { name: form.get("name") ?? "" });
      return { to: spacePath(id), notice: `The space is called “${name}” now.` };
    },
    (visit, problem, _, id) => page(visit, id, { problem }),
  );
  pages.get(`${OF_SPACE}/projects`, (visit, id) => (
    <ProjectsOfSpacePage visit={visit} space={asAdmin(visit, id)} />
  ));
  pages.post(
    `${OF_SPACE}/projects`,
    async (visit, form, id) => {
      const lines = (form.get("projects") ?? "").split(/\r?\n/).map((line) => line.trim());
      await change(visit, id, { projects: lines.filter((line) => line !== "") });
      return { to: spacePath(id), notice: "The projects are saved." };
    },
    (visit, problem, form, id) => (
      <ProjectsOfSpacePage
        visit={visit}
        space={asAdmin(visit, id)}
        typed={form.get("projects") ?? ""}
        problem={problem}
      />
    ),
  );
  pages.confirmed(
    `${OF_SPACE}/delete`,
    "account",
    async (visit, id) => {
      const { name } = asAdmin(visit, id);
      const usage = await memories.usage(id);
      return {
        title: "Delete this space?",
        confirm: "Delete the space permanently",
        cancel: spacePath(id),
        text: (
          <>
            <p>
              This permanently deletes <bdi>{name}</bdi>{" "}
              {`with ${memoryCount(usage.memories)}, for all its members. You can't undo this. Existing backups still contain the space.`}
            </p>
            <Field label="Type the name of the space" name="name" required={true} maxlength={64} />
          </>
        ),
      };
    },
    async (visit, form, id) => {
      const { account, request } = visit;
      const space = asAdmin(visit, id);
      if (form.get("name")?.trim() !== space.name) {
        throw new AppError("validation_failed", "This is not the name of the space.");
      }
      await spaces.remove(account.id, id);
      record(request, "space_deleted", { accountId: account.id, ...spaceFacts(space) });
      return { to: SPACES_PATH, notice: `The space “${space.name}” is deleted.` };
    },
  );
  pages.post(
    `${OF_SPACE}/invite`,
    async ({ account, session, request, spaces: own }, form, id) => {
      const space = findSpace(own, id);
      const wanted = { role: roleOf(form), email: form.get("email")?.trim() || null };
      const { secret, invitation } = await spaceInvitations.create(account.id, id, wanted);
      record(request, "space_invited", { accountId: account.id, ...spaceFacts(space) });
      await shownOnce.put(session, invitation.id, secret);
      return { to: `${spacePath(id)}?${new URLSearchParams({ invited: invitation.id })}` };
    },
    (visit, problem, form, id) => page(visit, id, { problem, email: form.get("email") ?? "" }),
  );
}

/** The forms about who is in a space, and with what role. */
export function addSpaceMembers({ pages, spaces, spaceInvitations, record }: Parts): void {
  const findMember = async (spaceId: string, wanted: string | null) => {
    const member = (await spaces.members(spaceId)).find(({ accountId }) => accountId === wanted);
    if (member) return member;
    throw unknownMember();
  };

  pages.post(`${OF_SPACE}/revoke`, async ({ account, request, spaces: own }, form, id) => {
    const space = findSpace(own, id);
    await spaceInvitations.revoke(account.id, id, form.get("invitation") ?? "");
    record(request, "space_uninvited", { accountId: account.id, ...spaceFacts(space) });
    return { to: spacePath(id), notice: "The invitation is revoked." };
  });
  pages.get(`${OF_SPACE}/member`, async (visit, id) => {
    const space = asAdmin(visit, id);
    const member = await findMember(id, visit.url.searchParams.get("member"));
    return <MemberPage visit={visit} space={space} member={member} />;
  });
  pages.post(`${OF_SPACE}/role`, async (visit, form, id) => {
    const { account, request } = visit;
    const space = asAdmin(visit, id);
    const member = await findMember(id, form.get("member"));
    const role = roleOf(form);
    await spaces.setRole(account.id, id, member.accountId, role);
    record(request, "space_role_changed", {
      ...{ accountId: member.accountId, actorId: account.id, ...spaceFacts(space) },
    });
    return { to: spacePath(id), notice: `${member.email} is ${ROLE_LABELS[role]} now.` };
  });
  pages.confirmed(
    `${OF_SPACE}/remove`,
    "account",
    async (visit, id) => {
      const { name } = asAdmin(visit, id);
      const { accountId, email } = await findMember(id, visit.url.searchParams.get("member"));
      return {
        title: "Remove this member?",
        confirm: "Remove the member",
        cancel: spacePath(id),
        text: (
          <>
            <input type="hidden" name="member" value={accountId} />
            <p>
              <bdi>{email}</bdi> loses access to <bdi>{name}</bdi> at once, with keys and apps that
              are bound to it. What they saved there stays.
            </p>
          </>
        ),
      };
    },
    async (visit, form, id) => {
      const { account, request } = visit;
      const space = asAdmin(visit, id);
      const { accountId, email } = await findMember(id, form.get("member"));
      await spaces.removeMember(account.id, id, accountId);
      record(request, "space_left", { accountId, actorId: account.id, ...spaceFacts(space) });
      return { to: spacePath(id), notice: `${email} is removed.` };
    },
  );
  pages.confirmed(
    `${OF_SPACE}/leave`,
    "account",
    async (visit, id) => {
      const { name } = findSpace(visit.spaces, id);
      const others = (await spaces.countMembers(id)) - 1;
      return {
        title: "Leave this space?",
        confirm: "Leave the space",
        cancel: spacePath(id),
        text: (
          <p>
            You lose access to <bdi>{name}</bdi> at once. What you saved there stays
            {others > 0 ? `, and ${peopleCount(others)} can still see it` : ""}. Your own memories
            stay yours.
          </p>
        ),
      };
    },
    async ({ account, request, spaces: own }, _, id) => {
      const space = findSpace(own, id);
      await spaces.removeMember(account.id, id, account.id);
      const facts = { accountId: account.id, actorId: account.id, ...spaceFacts(space) };
      record(request, "space_left", facts);
      return { to: SPACES_PATH, notice: `You have left the space “${space.name}”.` };
    },
  );
}

/** A space of which the person is an admin. The store checks it again. @throws AppError `not_found`, `forbidden` */
function asAdmin({ spaces }: Visit, id: string): Space {
  const space = findSpace(spaces, id);
  if (space.role === "admin") return space;
  throw new AppError("forbidden", "Only the admins of a space can do this.");
}

/** @throws AppError `validation_failed` */
function roleOf(form: URLSearchParams): Role {
  const role = ROLES.find((each) => each === form.get("role"));
  if (role) return role;
  throw new AppError("validation_failed", "Choose one of the roles in the list.");
}
