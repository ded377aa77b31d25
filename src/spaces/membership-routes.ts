import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { findSpace } from "../accounts/space.ts";
import { responses } from "../http/openapi.ts";
import { Done, Joining, Made, NewInvitation, RoleChange, SpaceView } from "./requests.ts";
import {
  createBodies,
  createPersonFinder,
  invitationLink,
  type SpaceRouteParts,
  spaceFacts,
  toView,
} from "./route-parts.ts";

/** The routes of invitations and members. */
export function createMembershipRoutes(parts: SpaceRouteParts) {
  const { spaces, spaceInvitations, record, publicUrl } = parts;
  const findPerson = createPersonFinder(parts);
  const body = createBodies(findPerson);
  const find = async (request: Request, wanted: string) => {
    const { account, own } = await findPerson(request);
    return { account, space: findSpace(own, wanted) };
  };
  const space = Type.String({ description: "The space's name or id." });
  const ofMember = Type.Object({
    space,
    id: Type.String({ description: "The member's account." }),
  });

  return new Elysia({ tags: ["spaces"], normalize: false })
    .post(
      "/join",
      async ({ request, body }) => {
        const { account } = await findPerson(request);
        const { spaceId, spaceName, role } =
          body.secret === undefined
            ? await spaceInvitations.accept(account, body.invitation ?? "")
            : await spaceInvitations.acceptLink(account, body.secret);
        const facts = spaceFacts({ id: spaceId, name: spaceName });
        record(request, "space_joined", { accountId: account.id, ...facts });
        const { spaces: own = [] } = (await spaces.admit(account.id)) ?? {};
        const { projects = [] } = own.find(({ id }) => id === spaceId) ?? {};
        return { id: spaceId, name: spaceName, role, projects };
      },
      {
        ...body(Joining),
        detail: {
          operationId: "joinSpace",
          summary: "Join a space",
          description: "By the `secret` of a link, or by an `invitation` of your list.",
          responses: responses(
            { status: 200, description: "Joined.", schema: SpaceView },
            404,
            409,
            413,
            415,
          ),
        },
      },
    )
    .post(
      "/:space/invitations",
      async ({ request, params, body, set }) => {
        const { account, space } = await find(request, params.space);
        const { role, email = null } = body;
        const made = await spaceInvitations.create(account.id, space.id, { role, email });
        record(request, "space_invited", { accountId: account.id, ...spaceFacts(space) });
        set.status = 201;
        return { ...toView(made.invitation), link: invitationLink(publicUrl, made.secret) };
      },
      {
        ...body(NewInvitation),
        params: Type.Object({ space }),
        detail: {
          operationId: "inviteIntoSpace",
          summary: "Invite somebody into a space",
          description:
            "For admins. With `email`, only the account with this address can join. It sees the invitation in the dashboard if it is older than the invitation. Otherwise the person needs the `link`, which is shown only once, and is valid for a week.",
          responses: responses(
            { status: 201, description: "Invited.", schema: Made },
            404,
            409,
            413,
            415,
          ),
        },
      },
    )
    .delete(
      "/:space/invitations/:id",
      async ({ request, params }) => {
        const { account, space } = await find(request, params.space);
        await spaceInvitations.revoke(account.id, space.id, params.id);
        record(request, "space_uninvited", { accountId: account.id, ...spaceFacts(space) });
        return { id: params.id, deleted: true as const };
      },
      {
        params: Type.Object({ space, id: Type.String({ description: "The invitation's id." }) }),
        detail: {
          operationId: "revokeSpaceInvitation",
          summary: "Revoke an invitation into a space",
          responses: responses({ status: 200, description: "Revoked.", schema: Done }, 404, 409),
        },
      },
    )
    .put(
      "/:space/members/:id",
      async ({ request, params, body }) => {
        const { account, space } = await find(request, params.space);
        await spaces.setRole(account.id, space.id, params.id, body.role);
        const facts = { accountId: params.id, actorId: account.id, ...spaceFacts(space) };
        record(request, "space_role_changed", facts);
        return { id: params.id, role: body.role };
      },
      {
        ...body(RoleChange),
        params: ofMember,
        detail: {
          operationId: "changeSpaceRole",
          summary: "Give a member another role",
          responses: responses(
            { status: 200, description: "Changed.", schema: RoleChange },
            404,
            409,
            413,
            415,
          ),
        },
      },
    )
    .delete(
      "/:space/members/:id",
      async ({ request, params }) => {
        const { account, space } = await find(request, params.space);
        await spaces.removeMember(account.id, space.id, params.id);
        const facts = { accountId: params.id, actorId: account.id, ...spaceFacts(space) };
        record(request, "space_left", facts);
        return { id: params.id, deleted: true as const };
      },
      {
        params: ofMember,
        detail: {
          operationId: "removeFromSpace",
          summary: "Remove a member, or leave",
          description:
            "Admins remove others, and everybody can leave but the last admin. The next request is refused, and keys that are bound to the space are gone. What the member wrote stays.",
          responses: responses({ status: 200, description: "Removed.", schema: Done }, 404, 409),
        },
      },
    );
}
