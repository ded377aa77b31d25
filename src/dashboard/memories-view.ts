import { createCheck } from "../http/validation.ts";
import type { Filter } from "../memories/filter.ts";
import { LIMITS } from "../memories/memory.ts";
import { ListQuery, SearchQuery, toVisibleFilter } from "../memories/requests.ts";
import { PATHS } from "./navigation.tsx";

const DAY = 86_400_000;

/** Memories on a page of the list, and what a search shows at the most. */
export const PAGE_SIZE = 25;
export const MOST_FOUND = 25;

const checkList = createCheck(ListQuery);
const checkSearch = createCheck(SearchQuery);

/** What the page of memories is asked to show: the fields of its form, empty where nothing is. */
export interface View {
  q: string;
  /** With commas between; a memory needs one of them. */
  tags: string;
  agent_id: string;
  session_id: string;
  /** The project that is looked at, without the memories of none. */
  project: string;
  /** `1` for the memories of no project. */
  unfiled: string;
  /** Id of what wrote them. */
  source: string;
  /** `true` for what was captured from conversations, `false` for what was saved otherwise. */
  captured: string;
  /** `1` to show what others have superseded, too. */
  history: string;
  /** Days in UTC, both included. */
  from: string;
  to: string;
  cursor: string;
  /** `1` where a search also shows what is no answer. */
  rest: string;
}

const FIELDS = [
  ...["q", "tags", "agent_id", "session_id", "project", "unfiled", "source", "captured"],
  ...["history", "from", "to", "cursor", "rest"],
] as readonly (keyof View)[];

/** Fields by which no memory is left out. */
const UNFILTERED: ReadonlySet<string> = new Set(["q", "cursor", "rest", "history"]);
/** What the switch of projects sets, beside the form. */
const SWITCHED: ReadonlySet<string> = new Set(["project", "unfiled"]);

export function readView(parameters: URLSearchParams): View {
  const read = (name: keyof View) => parameters.get(name) ?? "";
  return {
    // What is pasted may be longer than a query may be.
    q: [
      ...read("q")
        .trim()
        .slice(0, 2 * LIMITS.query),
    ]
      .slice(0, LIMITS.query)
      .join(""),
    tags: read("tags").trim(),
    agent_id: read("agent_id"),
    session_id: read("session_id"),
    project: read("project"),
    unfiled: read("unfiled"),
    source: read("source").trim(),
    captured: read("captured"),
    history: read("history"),
    from: read("from"),
    to: read("to"),
    cursor: read("cursor"),
    rest: read("rest"),
  };
}

/** The address of the page that shows a view. */
export function viewPath(view: Partial<View>): string {
  const parameters = new URLSearchParams();
  for (const name of FIELDS) if (view[name]) parameters.set(name, view[name]);
  return parameters.size > 0 ? `${PATHS.memories}?${parameters}` : PATHS.memories;
}

/** Whether fewer than all memories are asked for, by other means than a search. */
export function isFiltered(view: View): boolean {
  return FIELDS.some((name) => !UNFILTERED.has(name) && view[name] !== "");
}

/** Whether something can be done with all that a list's filters find; a search finds only the best. */
export function canTakeAll(view: View): boolean {
  return view.q === "" && isFiltered(view);
}

/** Whether more than the project narrows what is asked for. */
export function hasFilters(view: View): boolean {
  return FIELDS.some((name) => !UNFILTERED.has(name) && !SWITCHED.has(name) && view[name] !== "");
}

/** @throws AppError `validation_failed` */
export function listRequest(view: View): { filter: Filter; limit: number; cursor?: string } {
  const query = checkList({
    ...filterFields(view),
    limit: String(PAGE_SIZE),
    ...(view.cursor && { cursor: view.cursor }),
  });
  const filter = toVisibleFilter(query);
  return {
    filter: view.unfiled === "" ? filter : { ...filter, projects: [null] },
    limit: PAGE_SIZE,
    ...(query.cursor !== undefined && { cursor: query.cursor }),
  };
}

/** @throws AppError `validation_failed` */
export function searchRequest(view: View) {
  const { q, mode } = checkSearch({
    ...{ q: view.q, mode: "hybrid", limit: String(MOST_FOUND) },
    ...{ min_score: "0", decay: "true", explain: "true", known: "true" },
  });
  const { filter } = listRequest({ ...view, cursor: "" });
  const known = view.rest !== "1";
  return { query: q, mode, filter, limit: MOST_FOUND, minScore: 0, explain: true, known };
}

function filterFields(view: View) {
  const { tags, agent_id, session_id, project, source, captured, history, from, to } = view;
  return {
    ...(project && { project, project_only: "true" }),
    ...(source && { source }),
    ...(captured && { captured }),
    ...(history && { include_superseded: "true" }),
    ...(tags && { tags }),
    ...(agent_id && { agent_id }),
    ...(session_id && { session_id }),
    ...(from && { created_after: startOf(from) }),
    ...(to && { created_before: startOf(to, DAY) }),
  };
}

/** The first moment of a day, or of one `later`; what is no day stays as it is, to be refused. */
function startOf(day: string, later = 0): string {
  const time = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? day : new Date(time + later).toISOString();
}
