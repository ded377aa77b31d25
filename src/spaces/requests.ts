import { Type } from "@sinclair/typebox";
import { ROLES } from "../accounts/space.ts";
import { instant } from "../text/input-kinds.ts";

const strict = { additionalProperties: false };

const name = Type.String({ description: "1 to 64 characters.", examples: ["acme"] });
const projects = Type.Array(Type.String(), {
  description: "What members save for these projects belongs to the space.",
  examples: [["acme/web"]],
});
const role = Type.Union(
  ROLES.map((each) => Type.Literal(each)),
  { description: "An `admin` also invites, removes, renames and deletes." },
);
const email = Type.Union([Type.String({ examples: ["bob@example.com"] }), Type.Null()]);
const id = Type.String({ examples: ["acc_0197f2c4e0b47c3a9a1d5b8e2f60c711"] });

export const NewSpace = Type.Object({ name }, strict);
export const SpaceChanges = Type.Partial(Type.Object({ name, projects }), strict);
export const NewInvitation = Type.Object({ role, email: Type.Optional(email) }, strict);
export const RoleChange = Type.Object({ role }, strict);
export const Joining = Type.Object(
  {
    secret: Type.Optional(Type.String({ description: "The `invitation` of the link." })),
    invitation: Type.Optional(Type.String({ description: "An id of your list." })),
  },
  strict,
);

export const SpaceView = Type.Object({ id, name, role, projects });
const Invitation = Type.Object({
  id: Type.String(),
  space: name,
  role,
  email,
  expires_at: instant({ description: "UTC." }),
});
export const Spaces = Type.Object({
  spaces: Type.Array(SpaceView),
  invitations: Type.Array(Invitation, { description: "That wait for your answer." }),
});
const Member = Type.Object({ id, email: Type.String(), role, joined_at: instant({}) });
export const Details = Type.Object({
  ...SpaceView.properties,
  members: Type.Array(Member),
  invitations: Type.Array(Invitation, { description: "Of the space; only admins see them." }),
});
export const Made = Type.Object({ ...Invitation.properties, link: Type.String() });
export const Done = Type.Object({ id, deleted: Type.Literal(true) });
