/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import { createCheck } from "../../http/requests/validation.ts";
import {
  MAX_TIDIED,
  TIDY_KINDS,
  type TidyKind,
  TidyRequest,
} from "../../memories/rules/tidy/report.ts";
import { MEMORY_PATHS, tidyPath } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import { memoryFacts } from "../session.ts";
import { PreviewPage, usualGroups } from "./preview-page.tsx";
import { PREVIEW_PATH, TidyPage } from "./tidy-page.tsx";

/** Groups of a page. */
const PAGE_SIZE = 12;
/** The base for parsing paths as URLs. Its host is not used. */
const ORIGIN = "http://localhost";

const checkRequest = createCheck(TidyRequest);

const kindIn = (parameters: URLSearchParams | undefined): TidyKind | null =>
  TIDY_KINDS.find((kind) => kind === parameters?.get("kind")) ?? null;

/** The page of what could be tidied, and the preview of a change of all groups of a kind. */
export function addTidyPages({ pages, tidy, undoable, record }: Parts): void {
  pages.get(MEMORY_PATHS.tidy, async (visit) => {
    const { reach, url } = visit;
    const kind = kindIn(url.searchParams);
    const cursor = url.searchParams.get("cursor");
    const question = { limit: PAGE_SIZE, kind: kind ?? undefined, cursor: cursor ?? undefined };
    const [report, pending] = await Promise.all([
      tidy.report(reach, question),
      undoable.list(reach.accountId),
    ]);
    return <TidyPage {...{ visit, report, kind, cursor, pending }} />;
  });

  pages.get(PREVIEW_PATH, async (visit) => {
    const kind = kindIn(visit.url.searchParams);
    if (kind === null) throw new AppError("not_found", "There is no such kind.");
    const { groups: all, kinds } = await tidy.report(visit.reach, { kind, limit: MAX_TIDIED });
    const groups = usualGroups(all, kind);
    const wanted = groups.map(({ id }) => ({ id }));
    const nothing = { superseded: 0, deleted: 0, pinned: 0, expiring: 0, moved: 0, undo: null };
    const outcome =
      wanted.length === 0
        ? nothing
        : await tidy.apply(visit.reach, { groups: wanted, dry_run: true });
    const total = kinds[kind] ?? groups.length;
    return <PreviewPage {...{ visit, kind, groups, total, outcome }} />;
  });

  pages.post(MEMORY_PATHS.tidy, async (visit, form) => {
    const outcome = await tidy.apply(visit.reach, requestIn(form));
    if (outcome.undo !== null && outcome.deleted > 0) {
      record(visit.request, "memories_deleted", { ...memoryFacts(visit), amount: outcome.deleted });
    }
    const view = URL.parse(form.get("view") ?? "", ORIGIN)?.searchParams;
    const to = tidyPath(kindIn(view) ?? undefined);
    return outcome.undo === null ? { to, notice: "Nothing changed: they expire anyway." } : { to };
  });
}

/** What a form asks for: one group by the button that was pressed, or the chosen groups. @throws AppError */
function requestIn(form: URLSearchParams): TidyRequest {
  const [action, id] = (form.get("do") ?? "").split(" ");
  if (id !== undefined) return checkRequest({ groups: [{ id, action }] });
  const groups = form.getAll("group").map((each) => ({ id: each, action: form.get("action") }));
  if (groups.length > 0) return checkRequest({ groups });
  throw new AppError("validation_failed", "Nothing is selected. Go back and select some.");
}
