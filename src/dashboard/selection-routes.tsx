/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import { createCheck } from "../http/validation.ts";
import { wholeAccount } from "../keys/reach.ts";
import type { Filter } from "../memories/filter.ts";
import type { Memories } from "../memories/memories.ts";
import { LIMITS, MemoryChanges, Tag } from "../memories/memory.ts";
import type { Markup } from "../pages/jsx-runtime.ts";
import { ConfirmPage } from "./confirm.tsx";
import { countOf } from "./count-of.ts";
import { type Guard, PAGE_ROUTE, type Visit } from "./guard.tsx";
import { MEMORY_PATHS } from "./memories-page.tsx";
import { canTakeAll, listRequest, readView, type View, viewPath } from "./memories-view.ts";
import { nameOf } from "./memory-item.tsx";
import { removeSelected, tagSelected } from "./memory-selection.ts";

/** Memories that a question names before it counts the others. */
const NAMED = 5;
/** What addresses of this server are read against. */
const ORIGIN = "http://localhost";

const checkTag = createCheck(Tag);
const checkChanges = createCheck(MemoryChanges);

type Service = Pick<
  Memories,
  "get" | "move" | "moveThese" | "remove" | "removeMatching" | "update"
>;

/** What is done with the memories that are selected in a list, or with all that its filters find. */
export function createSelectionRoutes({ guard, memories }: { guard: Guard; memories: Service }) {
  const askToDelete = async (visit: Visit, form: URLSearchParams): Promise<Markup> => {
    const ids = idsOf(form);
    const filter = filterOfAll(form);
    const named = await Promise.all(
      ids.slice(0, NAMED).map((id) => memories.get(wholeAccount(visit.account.id), id)),
    );
    const what = filter ? "all that these filters find" : countOf(ids.length);
    const back = listIn(form);
    return (
      <ConfirmPage
        visit={visit}
        section="memories"
        title={`Delete ${what}?`}
        action={`${MEMORY_PATHS.selection}/delete`}
        confirm={`Delete ${what}`}
        cancel={back}
      >
        <input type="hidden" name="view" value={back} />
        {filter && <input type="hidden" name="all" value="1" />}
        {ids.map((id) => (
          <input type="hidden" name="id" value={id} />
        ))}
        <ul>
          {named.map(({ content }) => (
            <li>
              <bdi>{nameOf(content)}</bdi>
            </li>
          ))}
          {filter && <li>and all others, also those of before that have been superseded</li>}
          {!filter && ids.length > NAMED && <li>{`and ${ids.length - NAMED} more`}</li>}
        </ul>
        <p>They are deleted for good and can't be brought back.</p>
      </ConfirmPage>
    );
  };

  const tag = async ({ account }: Visit, form: URLSearchParams, isAdded: boolean) => {
    if (filterOfAll(form)) {
      throw new AppError("validation_failed", "Only the memories that are selected can be tagged.");
    }
    const name = checkTag(form.get("tag")).trim();
    const change = (tags: readonly string[]) => {
      const others = tags.filter((each) => each !== name);
      return isAdded ? [...others, name] : others;
    };
    const count = await tagSelected(memories, account.id, idsOf(form), change);
    const done = isAdded ? "now have" : "no longer have";
    return { to: listIn(form), notice: `${countOf(count)} ${done} the tag “${name}”.` };
  };

  const move = async ({ account }: Visit, form: URLSearchParams) => {
    const { project = null } = checkChanges({ project: form.get("to_project")?.trim() || null });
    const reach = wholeAccount(account.id);
    const filter = filterOfAll(form);
    const count = filter
      ? await memories.move(reach, filter, project)
      : await memories.moveThese(reach, idsOf(form), project);
    const belong = count === 1 ? "belongs" : "belong";
    const to = project === null ? "no project" : `the project “${project}”`;
    return { to: listIn(form), notice: `${countOf(count)} now ${belong} to ${to}.` };
  };

  return new Elysia()
    .post(
      MEMORY_PATHS.selection,
      ({ request }) =>
        guard.act(request, (visit, form) => {
          const action = form.get("action");
          if (action === "delete") return askToDelete(visit, form);
          if (action === "move") return move(visit, form);
          return tag(visit, form, action !== "untag");
        }),
      PAGE_ROUTE,
    )
    .post(
      `${MEMORY_PATHS.selection}/delete`,
      ({ request }) =>
        guard.act(request, async ({ account }, form) => {
          const filter = filterOfAll(form);
          const count = filter
            ? await memories.removeMatching(wholeAccount(account.id), filter)
            : await removeSelected(memories, account.id, idsOf(form));
          return { to: listIn(form), notice: `Deleted for good: ${countOf(count)}.` };
        }),
      PAGE_ROUTE,
    );
}

function idsOf(form: URLSearchParams): string[] {
  const ids = [...new Set(form.getAll("id"))].slice(0, LIMITS.page);
  if (ids.length > 0) return ids;
  throw new AppError("validation_failed", "No memory is selected. Go back and tick some.");
}

function viewIn(form: URLSearchParams): View {
  return readView(URL.parse(form.get("view") ?? "", ORIGIN)?.searchParams ?? new URLSearchParams());
}

/** The list that a form was in. */
function listIn(form: URLSearchParams): string {
  return viewPath(viewIn(form));
}

/**
 * What lets all pass that the list's filters find, on every page; null where only those are meant that
 * are selected. What was superseded is part of it: left alone, it would be true again.
 */
function filterOfAll(form: URLSearchParams): Filter | null {
  const view = viewIn(form);
  if (!form.has("all") || !canTakeAll(view)) return null;
  const { isCurrent: _, ...filter } = listRequest({ ...view, cursor: "" }).filter;
  return filter;
}
