/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Account } from "../../accounts/account.ts";
import { invitationGone } from "../../accounts/invitations.ts";
import { findSpace, PERSONAL } from "../../accounts/space.ts";
import type { SpaceInvitation } from "../../accounts/space-invitations.ts";
import { seeOther } from "../../http/responses.ts";
import { JOIN_SPACE_PATH, spaceFacts } from "../../spaces/route-parts.ts";
import { PATHS, SPACES_PATH, spacePath } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { CHOOSE_PATH, OF_MEMORIES } from "./space-choice.tsx";
import { JoinSpacePage, SpacesPage } from "./spaces-page.tsx";

/** The page of a person's spaces and invitations, and the page that answers the link of one. */
export function addSpacesPage({ pages, spaces, spaceInvitations, record }: Parts): void {
  const withPeople = async <Row,>(rows: readonly Row[], idOf: (row: Row) => string) =>
    await Promise.all(
      rows.map(async (row) => ({ ...row, people: await spaces.countMembers(idOf(row)) })),
    );

  const page = async (visit: Visit, again: { problem?: string; name?: string } = {}) => {
    const invitations = await spaceInvitations.listFor(visit.account);
    return (
      <SpacesPage
        visit={visit}
        spaces={await withPeople(visit.spaces, ({ id }) => id)}
        invitations={await withPeople(invitations, ({ spaceId }) => spaceId)}
        {...again}
      />
    );
  };

  /** Joins a space, and shows its page. */
  const join = async (
    { account, request }: Visit,
    accept: (person: Account) => Promise<SpaceInvitation>,
  ) => {
    const { spaceId: id, spaceName: name } = await accept(account);
    record(request, "space_joined", { accountId: account.id, ...spaceFacts({ id, name }) });
    return { to: spacePath(id), notice: `You are in the space “${name}”.` };
  };

  pages.get(SPACES_PATH, (visit) => page(visit));
  pages.post(
    SPACES_PATH,
    async ({ account, request }, form) => {
      const space = await spaces.create(account.id, form.get("name") ?? "");
      record(request, "space_created", { accountId: account.id, ...spaceFacts(space) });
      return { to: spacePath(space.id), notice: `The space “${space.name}” is made.` };
    },
    (visit, problem, form) => page(visit, { problem, name: form.get("name") ?? "" }),
  );
  pages.post(`${SPACES_PATH}/invitations/:id/accept`, (visit, _, id) =>
    join(visit, (person) => spaceInvitations.accept(person, id)),
  );
  pages.post(`${SPACES_PATH}/invitations/:id/decline`, async ({ account }, _, id) => {
    await spaceInvitations.decline(account, id);
    return { to: SPACES_PATH, notice: "The invitation is declined." };
  });
  pages.get(`${JOIN_SPACE_PATH}/:id`, async (visit, secret) => {
    const found = await spaceInvitations.find(secret);
    if (!found || (found.email ?? visit.account.email) !== visit.account.email) {
      throw invitationGone();
    }
    const people = await spaces.countMembers(found.spaceId);
    return <JoinSpacePage visit={visit} invitation={{ ...found, people }} />;
  });
  pages.post(`${JOIN_SPACE_PATH}/:id`, (visit, _, secret) =>
    join(visit, (person) => spaceInvitations.acceptLink(person, secret)),
  );
}

/** Answers the form that chooses a space. */
export function addSpaceChoice({ pages, places }: Parts): void {
  pages.post(CHOOSE_PATH, ({ spaces }, form) => {
    const wanted = form.get("space") ?? PERSONAL;
    const space = wanted === PERSONAL ? null : findSpace(spaces, wanted);
    const section = OF_MEMORIES.find((each) => each === form.get("section")) ?? "overview";
    return seeOther(PATHS[section], [places.choose(space)]);
  });
}
