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
  /** Days in UTC, both included. */
  from: string;
  to: string;
  cursor: string;
  /** `1` where a search also shows what is no answer. */
  rest: string;
}

const FIELDS = ["q", "tags", "agent_id", "session_id", "from", "to", "cursor", "rest"] as const;

/** Fields by which no memory is left out. */
const UNFILTERED: ReadonlySet<string> = new Set(["q", "cursor", "rest"]);

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

/** @throws AppError `validation_failed` */
export function listRequest(view: View): { filter: Filter; limit: number; cursor?: string } {
  const query = checkList({
    ...filterFields(view),
    limit: String(PAGE_SIZE),
    ...(view.cursor && { cursor: view.cursor }),
  });
  return {
    filter: toVisibleFilter(query),
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

function filterFields({ tags, agent_id, session_id, from, to }: View) {
  return {
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
