import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { findSpace } from "../accounts/space.ts";
import { responses } from "../http/openapi.ts";
import { checkQueryString } from "../http/requests/validation.ts";
import { personOf } from "../keys/reach.ts";
import { createMembershipRoutes } from "./membership-routes.ts";
import { Details, Done, NewSpace, SpaceChanges, Spaces, SpaceView } from "./requests.ts";
import {
  createBodies,
  createPersonFinder,
  isPerson,
  type SpaceRouteParts,
  spaceFacts,
  toView,
} from "./route-parts.ts";

/** The routes of spaces: what they are called, and who is in them. */
export function createSpaceRoutes(parts: SpaceRouteParts) {
  const { accounts, spaces, spaceInvitations, authorize, record } = parts;
  const findPerson = createPersonFinder(parts);
  const body = createBodies(findPerson);
  const ofSpace = Type.Object({ space: Type.String({ description: "Its name or id." }) });

  return new Elysia({ prefix: "/spaces", tags: ["spaces"], normalize: false })
    .get(
      "/",
      async ({ request }) => {
        const principal = await authorize(request, "memories:read");
        checkQueryString(request);
        const { space, spaces: own = [] } = principal;
        const account = isPerson(principal) ? await accounts.find(personOf(principal)) : null;
        const invitations = account ? await spaceInvitations.listFor(account) : [];
        return { spaces: space ? [space] : own, invitations: invitations.map(toView) };
      },
      {
        detail: {
          operationId: "listSpaces",
          summary: "List your spaces",
          description: "With a key: those that it reaches.",
          responses: responses({ status: 200, description: "Your spaces.", schema: Spaces }),
        },
      },
    )
    .post(
      "/",
      async ({ request, body, set }) => {
        const { account } = await findPerson(request);
        const space = await spaces.create(account.id, body.name);
        record(request, "space_created", { accountId: account.id, ...spaceFacts(space) });
        set.status = 201;
        return space;
      },
      {
        ...body(NewSpace),
        detail: {
          operationId: "createSpace",
          summary: "Make a space",
          description:
            "You become its first admin. This and the following are for people, by the dashboard's session or the local socket, and not for keys.",
          responses: responses(
            { status: 201, description: "Made.", schema: SpaceView },
            409,
            413,
            415,
          ),
        },
      },
    )
    .get(
      "/:space",
      async ({ request, params }) => {
        const { own } = await findPerson(request);
        const space = findSpace(own, params.space);
        const members = await spaces.members(space.id);
        const invitations = space.role === "admin" ? await spaceInvitations.list(space.id) : [];
        return {
          ...space,
          members: members.map(({ accountId: id, email, role, joinedAt }) => {
            return { id, email, role, joined_at: joinedAt.toISOString() };
          }),
          invitations: invitations.map(toView),
        };
      },
      {
        params: ofSpace,
        detail: {
          operationId: "getSpace",
          summary: "Get a space with its members",
          responses: responses(
            { status: 200, description: "The space.", schema: Details },
            404,
            409,
          ),
        },
      },
    )
    .put(
      "/:space",
      async ({ request, params, body }) => {
        const { account, own } = await findPerson(request);
        const space = findSpace(own, params.space);
        const changed = await spaces.change(account.id, space.id, body);
        record(request, "space_changed", { accountId: account.id, ...spaceFacts(space) });
        return { ...space, ...changed };
      },
      {
        ...body(SpaceChanges),
        params: ofSpace,
        detail: {
          operationId: "changeSpace",
          summary: "Rename a space, or choose its projects",
          description: "For admins. What was saved before stays where it is.",
          responses: responses(
            { status: 200, description: "Changed.", schema: SpaceView },
            404,
            409,
            413,
            415,
          ),
        },
      },
    )
    .delete(
      "/:space",
      async ({ request, params }) => {
        const { account, own } = await findPerson(request);
        const space = findSpace(own, params.space);
        await spaces.remove(account.id, space.id);
        record(request, "space_deleted", { accountId: account.id, ...spaceFacts(space) });
        return { id: space.id, deleted: true as const };
      },
      {
        params: ofSpace,
        detail: {
          operationId: "deleteSpace",
          summary: "Delete a space with all its memories, for good",
          description: "For admins.",
          responses: responses({ status: 200, description: "Deleted.", schema: Done }, 404, 409),
        },
      },
    )
    .use(createMembershipRoutes(parts));
}
