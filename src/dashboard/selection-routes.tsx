/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import { createCheck } from "../http/validation.ts";
import { wholeAccount } from "../keys/reach.ts";
import type { Memories } from "../memories/memories.ts";
import { LIMITS, MemoryChanges, Tag } from "../memories/memory.ts";
import type { Markup } from "../pages/jsx-runtime.ts";
import { ConfirmPage } from "./confirm.tsx";
import { countOf } from "./count-of.ts";
import { type Guard, PAGE_ROUTE, type Visit } from "./guard.tsx";
import { MEMORY_PATHS } from "./memories-page.tsx";
import { readView, viewPath } from "./memories-view.ts";
import { nameOf } from "./memory-item.tsx";
import { moveSelected, removeSelected, tagSelected } from "./memory-selection.ts";

/** Memories that a question names before it counts the others. */
const NAMED = 5;

const checkTag = createCheck(Tag);
const checkChanges = createCheck(MemoryChanges);

type Service = Pick<Memories, "get" | "remove" | "update">;

/** What is done with the memories that are selected in a list. */
export function createSelectionRoutes({ guard, memories }: { guard: Guard; memories: Service }) {
  const idsOf = (form: URLSearchParams): string[] => {
    const ids = [...new Set(form.getAll("id"))].slice(0, LIMITS.page);
    if (ids.length > 0) return ids;
    throw new AppError("validation_failed", "No memory is selected. Go back and tick some.");
  };

  const askToDelete = async (
    visit: Visit,
    ids: readonly string[],
    back: string,
  ): Promise<Markup> => {
    const named = await Promise.all(
      ids.slice(0, NAMED).map((id) => memories.get(wholeAccount(visit.account.id), id)),
    );
    return (
      <ConfirmPage
        visit={visit}
        section="memories"
        title={`Delete ${countOf(ids.length)}?`}
        action={`${MEMORY_PATHS.selection}/delete`}
        confirm={`Delete ${countOf(ids.length)}`}
        cancel={back}
      >
        <input type="hidden" name="view" value={back} />
        {ids.map((id) => (
          <input type="hidden" name="id" value={id} />
        ))}
        <ul>
          {named.map(({ content }) => (
            <li>
              <bdi>{nameOf(content)}</bdi>
            </li>
          ))}
          {ids.length > NAMED && <li>{`and ${ids.length - NAMED} more`}</li>}
        </ul>
        <p>They are deleted for good and can't be brought back.</p>
      </ConfirmPage>
    );
  };

  const tag = async ({ account }: Visit, form: URLSearchParams, isAdded: boolean) => {
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
    const count = await moveSelected(memories, account.id, idsOf(form), project);
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
          if (action === "delete") return askToDelete(visit, idsOf(form), listIn(form));
          if (action === "move") return move(visit, form);
          return tag(visit, form, action !== "untag");
        }),
      PAGE_ROUTE,
    )
    .post(
      `${MEMORY_PATHS.selection}/delete`,
      ({ request }) =>
        guard.act(request, async ({ account }, form) => {
          const count = await removeSelected(memories, account.id, idsOf(form));
          return { to: listIn(form), notice: `Deleted for good: ${countOf(count)}.` };
        }),
      PAGE_ROUTE,
    );
}

/** The list that a form was in. */
function listIn(form: URLSearchParams): string {
  const { searchParams } = new URL(form.get("view") ?? "", "http://localhost");
  return viewPath(readView(searchParams));
}
