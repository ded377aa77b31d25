/** @jsxRuntime automatic @jsxImportSource #pages */
import { findSpace, type Space } from "../../accounts/space.ts";
import { AppError } from "../../errors.ts";
import { PAGE_ROUTE } from "../../pages/page-response.tsx";
import { moveIntoSpace, movingFilter } from "../../spaces/moving.ts";
import { spaceFacts } from "../../spaces/route-parts.ts";
import { titleOf } from "../../text/excerpt.ts";
import { memoryCount, peopleCount } from "../../text/number-text.ts";
import { PATHS, projectOf, projectPath } from "../navigation.tsx";
import { ConfirmPage } from "../page-routes.tsx";
import type { Parts } from "../parts.ts";
import { ownSource, type Visit } from "../session.ts";

/** Memories that the preview names. */
const NAMED = 5;

/** What Elysia passes to the handler of the form. */
interface MoveContext {
  request: Request;
  server: Pick<Bun.Server<unknown>, "timeout"> | null;
  params?: { id?: string };
}

/** Moves the person's memories of a project into a space: a page with a preview, and its form. */
export function addMovePage({ guard, pages, memories, spaces, record }: Parts): void {
  const path = `${PATHS.projects}/:id/into-space`;

  pages.get(path, async (visit, part) => {
    const { reach, url } = visit;
    const project = projectOf(part);
    const space = targetOf(visit, url.searchParams.get("space"));
    const filter = movingFilter(project);
    const [amount, captured, { memories: first }, people] = await Promise.all([
      memories.count(reach, filter),
      memories.count(reach, { projects: [project], isCaptured: true }),
      memories.list(reach, { filter, limit: NAMED }),
      spaces.countMembers(space.id),
    ]);
    if (amount === 0) throw new AppError("not_found", "No memory of this project can move.");
    const count = memoryCount(amount);
    return (
      <ConfirmPage
        visit={visit}
        section="projects"
        action={url.pathname}
        title={`Move ${count} into a space?`}
        confirm={`Move ${count}`}
        cancel={projectPath(project)}
        text={
          <>
            <input type="hidden" name="space" value={space.id} />
            <p>
              {`${peopleCount(people)} will see them in `}
              <strong>
                <bdi>{space.name}</bdi>
              </strong>
              :
            </p>
            <ul>
              {first.map(({ content }) => (
                <li>
                  <bdi>{titleOf(content)}</bdi>
                </li>
              ))}
              {amount > first.length && <li>{`and ${amount - first.length} more`}</li>}
            </ul>
            <p>
              Older versions go along. You no longer have them yourself.
              {captured > 0 && ` ${memoryCount(captured)} that were captured stay yours.`}
              {!space.projects.includes(project) &&
                " New memories of the project stay yours, unless an admin adds it to the space."}
            </p>
          </>
        }
      />
    );
  });

  const move = async (visit: Visit, project: string, wanted: string | null) => {
    const { account, reach, request, stillSignedIn } = visit;
    const space = targetOf(visit, wanted);
    const { moved, kept } = await moveIntoSpace(memories, reach, space, {
      project,
      source: ownSource(account),
      async stillAllowed() {
        await stillSignedIn();
        const now = (await spaces.admit(account.id))?.spaces ?? [];
        targetOf({ spaces: now }, space.id);
      },
    });
    const facts = { accountId: account.id, ...spaceFacts(space) };
    if (moved > 0) record(request, "memories_moved", { ...facts, amount: moved });
    const rest = `${memoryCount(kept)} stay: they were changed meanwhile, or the space has a newer version.`;
    return {
      to: kept > 0 ? projectPath(project) : PATHS.projects,
      notice: `Moved into “${space.name}”: ${memoryCount(moved)}.${kept > 0 ? ` ${rest}` : ""}`,
    };
  };

  pages.routes.post(
    path,
    ({ request, server, params }: MoveContext) => {
      // Embedding may take longer than the time limit of idle connections.
      server?.timeout(request, 0);
      return guard.act(request, (visit, form) =>
        move(visit, projectOf(params?.id ?? ""), form.get("space")),
      );
    },
    PAGE_ROUTE,
  );
}

/** @throws AppError `not_found`, `forbidden` for a space that the person may only read, `conflict` within a space */
function targetOf(visit: Pick<Visit, "spaces"> & Partial<Visit>, wanted: string | null): Space {
  if (visit.place?.space) {
    throw new AppError("conflict", "Only your own memories can move into a space.");
  }
  const space = findSpace(visit.spaces, wanted ?? "");
  if (space.role !== "read") return space;
  throw new AppError("forbidden", "You may only read the memories of this space.");
}
