/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import { createCheck } from "../../http/requests/validation.ts";
import type { Reach } from "../../keys/reach.ts";
import { checkExpiry } from "../../memories/model/change-memory.ts";
import type { Filter } from "../../memories/model/filter.ts";
import { LIMITS, MEMORY_ID, MemoryChanges, Tag } from "../../memories/model/memory.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { titleOf } from "../../text/excerpt.ts";
import { memoryCount } from "../../text/number-text.ts";
import { type Change, retagged } from "../../undo/change.ts";
import { exportFile } from "../export/export-routes.tsx";
import { MEMORY_PATHS } from "../navigation.tsx";
import { ConfirmPage } from "../page-routes.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { canTakeAll, filterOf, readView, type View, viewPath } from "./memories-view.ts";
import { describeChange } from "./pending-changes.tsx";

/** Memories that the confirmation page lists; it counts the others. */
const NAMED = 5;
/** The base for parsing paths as URLs. Its host is not used. */
const ORIGIN = "http://localhost";

const checkTag = createCheck(Tag);
const checkChanges = createCheck(MemoryChanges);

/** Changes the selected memories of a list, or all memories that match its filters. */
export function addSelectionForms(parts: Parts): void {
  const { guard, pages, memories, undoable, clock } = parts;

  /**
   * The filter for all memories that match the list's filters, on every page; null if only the selected memories
   * are meant. It includes superseded memories: if only their successors were deleted, they would be current again.
   */
  const filterOfAll = async ({ reach }: Visit, form: URLSearchParams): Promise<Filter | null> => {
    const view = viewIn(form);
    if (!form.has("all") || !canTakeAll(view)) return null;
    const { isCurrent: _, ...filter } = await filterOf(parts, reach, view);
    return filter;
  };

  const askToDelete = async (visit: Visit, form: URLSearchParams): Promise<Markup> => {
    const ids = idsOf(form);
    const filter = await filterOfAll(visit, form);
    const named = await Promise.all(ids.slice(0, NAMED).map((id) => memories.get(visit.reach, id)));
    const what = filter ? "all memories that match these filters" : memoryCount(ids.length);
    const back = listIn(form);
    return (
      <ConfirmPage
        visit={visit}
        section="memories"
        title={`Delete ${what}?`}
        action={`${MEMORY_PATHS.selection}/delete`}
        confirm={`Delete ${what}`}
        cancel={back}
        text={
          <>
            <input type="hidden" name="view" value={back} />
            {filter && <input type="hidden" name="all" value="1" />}
            {ids.map((id) => (
              <input type="hidden" name="id" value={id} />
            ))}
            <ul>
              {named.map(({ content }) => (
                <li>
                  <bdi>{titleOf(content)}</bdi>
                </li>
              ))}
              {filter && <li>and all other matching memories, including superseded ones</li>}
              {!filter && ids.length > NAMED && <li>{`and ${ids.length - NAMED} more`}</li>}
            </ul>
            <p>They will be deleted permanently. You can't undo this.</p>
          </>
        }
      />
    );
  };

  /**
   * Reads the change that a form with ids asks for.
   * @throws AppError `validation_failed` when the change is not valid for every selected memory
   */
  const changeOf = async (reach: Reach, form: URLSearchParams): Promise<Change> => {
    const ids = idsOf(form);
    const action = form.get("action");
    if (action === "delete") return { kind: "delete", ids };
    if (action === "move") return { kind: "move", ids, project: projectIn(form.get("to_project")) };
    const fields = fieldsIn(form);
    if (fields) {
      checkExpiry(fields.expires_at, clock(), "expires_at");
      return { kind: "set", ids, fields };
    }
    const kind = action === "untag" ? "untag" : "tag";
    const change = { kind, ids, tag: checkTag(form.get("tag")).trim() } as const;
    const retag = retagged(change);
    for (const id of ids) {
      const memory = await memories.find(reach, id);
      if (memory) checkChanges({ tags: retag(memory.tags) });
    }
    return change;
  };

  const moveAll = async ({ reach }: Visit, form: URLSearchParams, filter: Filter) => {
    const project = projectIn(form.get("to_project"));
    const count = await memories.move(reach, filter, project);
    return {
      to: listIn(form),
      notice: `${memoryCount(count)} ${describeChange({ kind: "move", project }, count)}.`,
    };
  };

  /** The selected memories as a file. Like the export of all, that of other pages needs a fresh proof. */
  const exportChosen = async (visit: Visit, form: URLSearchParams, filter: Filter | null) => {
    if (filter) {
      const asked = await guard.askForProof(visit, form);
      return asked ?? exportFile(parts, visit, await memories.export(visit.reach, filter));
    }
    const ids = idsOf(form);
    async function* chosen() {
      yield await memories.byIds(visit.reach, ids);
    }
    return exportFile(parts, visit, chosen());
  };

  pages.post(MEMORY_PATHS.selection, async (visit, form) => {
    const [action, filter] = [form.get("action"), await filterOfAll(visit, form)];
    const isLater = form.has("later") && !filter;
    if (action === "export") return exportChosen(visit, form, filter);
    if (action === "delete" && !isLater) return askToDelete(visit, form);
    if (action === "move" && filter) return moveAll(visit, form, filter);
    if (filter) {
      throw new AppError("validation_failed", "Only selected memories can be changed like this.");
    }
    const change = await changeOf(visit.reach, form);
    if (isLater) {
      await undoable.applyLater(visit.reach, change);
      return { to: listIn(form) };
    }
    const count = await undoable.applyNow(visit.reach, change);
    return { to: listIn(form), notice: `${memoryCount(count)} ${describeChange(change, count)}.` };
  });
  pages.post(`${MEMORY_PATHS.selection}/delete`, async (visit, form) => {
    const { reach } = visit;
    const filter = await filterOfAll(visit, form);
    const count = filter
      ? await memories.removeMatching(reach, filter)
      : await undoable.applyNow(reach, { kind: "delete", ids: idsOf(form) });
    return { to: listIn(form), notice: `Deleted permanently: ${memoryCount(count)}.` };
  });
  pages.post(MEMORY_PATHS.undo, async ({ reach }, form) => {
    if (!(await undoable.undo(reach, form.get("change") ?? ""))) {
      throw new AppError("conflict", "It is too late to undo this change.");
    }
    return { to: pageIn(form), notice: "The change is undone." };
  });
}

/** The fields that a form sets; null if it does something else. */
function fieldsIn(form: URLSearchParams): (Change & { kind: "set" })["fields"] | null {
  const importance = form.get("to_importance");
  const day = form.get("to_expiry");
  switch (form.get("action")) {
    case "pin":
      return { pinned: true };
    case "unpin":
      return { pinned: false };
    case "importance":
      // An empty text would be read as 0.
      return checkChanges({ importance: importance ? Number(importance) : Number.NaN });
    case "expiry":
      return checkChanges({ expires_at: day ? `${day}T00:00:00Z` : null });
  }
  return null;
}

/** The project that a person has typed; null for none. @throws AppError `validation_failed` */
export function projectIn(typed: string | null): string | null {
  const { project = null } = checkChanges({ project: typed?.trim() || null });
  return project;
}

function idsOf(form: URLSearchParams): string[] {
  const possible = form.getAll("id").filter((id) => MEMORY_ID.test(id));
  const ids = [...new Set(possible)].slice(0, LIMITS.page);
  if (ids.length > 0) return ids;
  throw new AppError("validation_failed", "No memory is selected. Go back and select some.");
}

function viewIn(form: URLSearchParams): View {
  return readView(URL.parse(form.get("view") ?? "", ORIGIN)?.searchParams ?? new URLSearchParams());
}

/** The address of the page whose change a form undoes: a list, or the page of what could be tidied. */
function pageIn(form: URLSearchParams): string {
  const url = URL.parse(form.get("view") ?? "", ORIGIN);
  return url?.pathname === MEMORY_PATHS.tidy ? url.pathname + url.search : listIn(form);
}

/** The address of the list that a form belongs to. */
function listIn(form: URLSearchParams): string {
  return viewPath(viewIn(form));
}
