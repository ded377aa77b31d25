import type { TObject } from "@sinclair/typebox";
import type { Access } from "../access/access.ts";
import type { Space } from "../accounts/space.ts";
import type { SpaceInvitation } from "../accounts/space-invitations.ts";
import { AppError } from "../errors.ts";
import type { Authorize, Principal } from "../http/principal.ts";
import type { RecordEvent } from "../http/record-event.ts";
import { createBodyReader } from "../http/requests/body.ts";
import { checkQueryString } from "../http/requests/validation.ts";
import { personOf } from "../keys/reach.ts";

const MAX_BODY = 64 << 10;
/** The page that answers the link of an invitation. */
export const JOIN_SPACE_PATH = "/spaces/join";

/** What the routes work with. */
export interface SpaceRouteParts extends Pick<Access, "accounts" | "spaces" | "spaceInvitations"> {
  authorize: Authorize;
  record: RecordEvent;
  publicUrl: string;
}

/** The link by which somebody joins a space. */
export function invitationLink(publicUrl: string, secret: string): string {
  return `${publicUrl}${JOIN_SPACE_PATH}/${secret}`;
}

/** The facts of an event about a space. */
export const spaceFacts = ({ id, name }: Pick<Space, "id" | "name">) => ({
  subjectId: id,
  subject: name,
});

export const isPerson = ({ via }: Principal) => via === "session" || via === "local";

/** Returns a function that finds the person who sends a request. */
export function createPersonFinder({
  spaces,
  authorize,
}: Pick<SpaceRouteParts, "spaces" | "authorize">) {
  return async (request: Request) => {
    const principal = await authorize(request, "memories:read");
    checkQueryString(request);
    // An agent that was talked into it must not let others in.
    if (!isPerson(principal)) {
      const message = "A key can't manage spaces: use the dashboard, or ctxd space on the machine.";
      throw new AppError("forbidden", message);
    }
    const admitted = await spaces.admit(personOf(principal));
    if (!admitted) throw new AppError("unauthorized", "This account is gone.");
    const { spaces: own, ...account } = admitted;
    return { account, own };
  };
}

type FindPerson = ReturnType<typeof createPersonFinder>;

/** Returns a function that describes the body of a route. It is read after the person is found. */
export function createBodies(findPerson: FindPerson) {
  return <Shape extends TObject>(shape: Shape) => {
    const read = createBodyReader(shape, MAX_BODY);
    return {
      body: shape,
      async parse({ request }: { request: Request }) {
        await findPerson(request);
        return await read(request);
      },
    };
  };
}

/** An invitation as clients see it. */
export const toView = ({ id, spaceName, role, email, expiresAt }: SpaceInvitation) => ({
  id,
  space: spaceName,
  role,
  email,
  expires_at: expiresAt.toISOString(),
});
