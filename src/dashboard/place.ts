import type { Space } from "../accounts/space.ts";
import type { Spaces } from "../accounts/spaces.ts";
import { AppError } from "../errors.ts";
import { inSpace, type Reach, requireScope, wholeAccount } from "../keys/reach.ts";
import { type Cookies, FORM_SPACE, formToken, tokenIn } from "../pages/cookies.ts";
import type { SignedIn, Visitors } from "../sign-in/sessions/visitor.ts";
import { credentialOf, type Visit } from "./session.ts";

/** A year in milliseconds. A browser keeps its choice of a space for so long. */
const LIFETIME = 365 * 24 * 3_600_000;

/** The notice on the first page after a membership has ended. */
const OVER = "You are not in the space that you had chosen any more. These are your own memories.";

export type Places = ReturnType<typeof createPlaces>;

/** Finds out whose memories a browser has chosen to see. */
export function createPlaces({
  cookies,
  spaces,
  visitors,
}: {
  cookies: Cookies;
  spaces: Pick<Spaces, "countMembers">;
  visitors: Pick<Visitors, "find">;
}) {
  const stillAllowed = async (request: Request, { account }: SignedIn, space: Space | null) => {
    const person = await visitors.find(request);
    if (person?.account.id !== account.id) {
      throw new AppError("unauthorized", "You have been signed out.");
    }
    if (space === null) return;
    const now = person.spaces.find(({ id }) => id === space.id);
    const isLess = now?.role === "read" && space.role !== "read";
    if (now && !isLess) return;
    throw new AppError("forbidden", "You are not in this space any more, or have another role.");
  };

  return {
    /**
     * A visit of a page.
     * @param isOfMemories whether the page shows the memories of the chosen space; others are of the person
     */
    async visitOf(request: Request, person: SignedIn, isOfMemories: boolean): Promise<Visit> {
      const { account, token } = person;
      const wanted = cookies.read(request, "space");
      const chosen = person.spaces.find(({ id }) => id === wanted) ?? null;
      const space = isOfMemories ? chosen : null;
      // What a script fetches may not be shown.
      const isPart = request.headers.has("ctxd-part");
      const isOver = isOfMemories && wanted !== null && chosen === null && !isPart;
      const own: Reach = wholeAccount(account.id);
      const people = space ? await spaces.countMembers(space.id) : 1;
      return {
        ...person,
        notice: isOver ? OVER : null,
        request,
        url: new URL(request.url),
        chosen,
        place: isOfMemories && person.spaces.length > 0 ? { space, people } : null,
        reach: space ? inSpace({ ...own, credential: credentialOf(account) }, space) : own,
        token: space ? tokenIn(space.id, token) : token,
        stillSignedIn: () => stillAllowed(request, person, space),
      };
    },

    /** The `Set-Cookie` header that chooses a space; null for the person's own memories. */
    choose: (space: Pick<Space, "id"> | null): string =>
      space ? cookies.set("space", space.id, LIFETIME) : cookies.clear("space"),
  };
}

/** The visit with the token for forms that belong to no space. */
export function asPerson(visit: Visit): Visit {
  return { ...visit, token: formToken(visit.session) };
}

/**
 * Refuses a form that was opened in another space than the one that is chosen now, and the forms of who may only read.
 * @throws AppError `conflict`, `forbidden`
 */
export function checkFormPlace(
  { reach, chosen, spaces }: Visit,
  form: { get(name: string): unknown },
): void {
  const opened = form.get(FORM_SPACE) ?? null;
  if (opened !== (chosen?.id ?? null)) {
    const { name } = spaces.find(({ id }) => id === opened) ?? {};
    const there = name ? `the space “${name}”` : "a space that you are not in any more";
    const message = `This form was opened in ${opened === null ? "your own memories" : there}. You are now in ${
      chosen ? `the space “${chosen.name}”` : "your own memories"
    }, so nothing was changed. Switch back first, then send it again.`;
    throw new AppError("conflict", message);
  }
  requireScope(reach, "memories:write");
}
