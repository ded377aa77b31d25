import type { Static } from "@sinclair/typebox";
import type { Account } from "../../accounts/account.ts";
import { createCheck } from "../../http/requests/validation.ts";
import type { Keys } from "../../keys/keys.ts";
import type { Reach } from "../../keys/reach.ts";
import { ListQuery, SearchQuery, toVisibleFilter } from "../../memories/http/requests.ts";
import type { Filter } from "../../memories/model/filter.ts";
import { LIMITS } from "../../memories/model/memory.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import type { Grants } from "../../oauth/grants.ts";
import { LOCAL_SOURCE_ID } from "../../uses/agent-states.ts";
import { PATHS } from "../navigation.tsx";

export const LOCAL_SOURCE_NAME = "Agents on this machine";

/** A possible author of memories: a key, an app, the person, or the agents on the server's machine. */
export interface Source {
  /** The id in a memory's `source`. */
  readonly id: string;
  readonly name: string;
}

/** The sources of an account, including revoked keys and disconnected apps. */
export async function listSources(
  { keys, grants }: { keys: Pick<Keys, "list">; grants: Pick<Grants, "list"> },
  { id, email }: Pick<Account, "id" | "email">,
): Promise<Source[]> {
  const [ofKeys, ofApps] = await Promise.all([keys.list(id), grants.list(id)]);
  return [
    { id, name: `${email} (you)` },
    ...ofKeys.map((key) => ({ id: key.id, name: `${key.name} (key)` })),
    ...ofApps.map((grant) => ({ id: grant.id, name: `${grant.clientName} (app)` })),
    { id: LOCAL_SOURCE_ID, name: "Agents on the server’s machine" },
  ];
}

const DAY = 86_400_000;

/** Memories per page of the list. */
const PAGE_SIZE = 25;
/** Results of a search. */
export const MAX_FOUND = 25;

const checkList = createCheck(ListQuery);
const checkSearch = createCheck(SearchQuery);

/** The fields of the search form, and the parameters of a list that each one sets; null if it sets none. */
const FIELDS = {
  q: null,
  /** Separated by commas. A memory must have at least one of them. */
  tags: (tags) => ({ tags }),
  agent_id: (agent_id) => ({ agent_id }),
  session_id: (session_id) => ({ session_id }),
  /** Only memories of this project. Memories without a project are left out. */
  project: (project) => ({ project, project_only: "true" }),
  /** `1` for only memories without a project. */
  unfiled: () => ({ project_only: "true" }),
  /** Id of the key, app or account that wrote the memories. */
  source: (source) => ({ source }),
  /** `true` for captured memories, `false` for all others. */
  captured: (captured) => ({ captured }),
  /** A name in `ONLY`. */
  only: null,
  /** `1` to include superseded memories. */
  history: () => ({ include_superseded: "true" }),
  /** Days in UTC, inclusive. */
  from: (day) => ({ created_after: startOf(day) }),
  to: (day) => ({ created_before: startOf(day, DAY) }),
  /** A day that is over in UTC: what was known at its end. */
  as_of: (as_of) => ({ as_of }),
  /** The order of the list, as the API names it; by default the newest first. */
  sort: (sort) => ({ sort }),
  cursor: (cursor) => ({ cursor }),
  /** `1` to include search results below the floor. */
  rest: null,
} satisfies Record<
  string,
  ((value: string) => { [Name in keyof Static<typeof ListQuery>]?: string }) | null
>;
const NAMES = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

/** Importance from which on the list counts a memory as important. */
const IMPORTANT = 0.7;
/** Days within which a memory expires soon. */
export const EXPIRING_DAYS = 7;

/** What filters depend on besides the view. */
interface FilterParts {
  memories: Pick<Memories, "withSecrets">;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/** The filters of `only`, which the API does not have. */
export const ONLY: Readonly<
  Record<
    string,
    { label: string; make: (parts: FilterParts, reach: Reach) => Filter | Promise<Filter> }
  >
> = {
  pinned: { label: "Pinned", make: () => ({ isPinned: true }) },
  important: {
    label: `Importance ${IMPORTANT} or more`,
    make: () => ({ importanceFrom: IMPORTANT }),
  },
  expiring: {
    label: `Expires within ${EXPIRING_DAYS} days`,
    // All captured memories expire some day.
    make: ({ clock }) => ({ isCaptured: false, expiresBefore: clock() + EXPIRING_DAYS * DAY }),
  },
  secret: {
    label: "Contains a secret",
    make: async ({ memories }, reach) => ({ only: await memories.withSecrets(reach) }),
  },
};

/** The filter of a view. @throws AppError `validation_failed` */
export async function filterOf(parts: FilterParts, reach: Reach, view: View): Promise<Filter> {
  const filter = toVisibleFilter(queryOf({ ...view, cursor: "", sort: "" }));
  return { ...(await ONLY[view.only]?.make(parts, reach)), ...filter };
}

/** The values of the search form. Empty values do not filter. */
export type View = Record<keyof typeof FIELDS, string>;

/** Fields whose values people type or paste. */
const TRIMMED: ReadonlySet<string> = new Set(["q", "tags", "source"]);
const NOT_FILTERS: ReadonlySet<string> = new Set(["q", "cursor", "rest", "history", "sort"]);

export function readView(parameters: URLSearchParams): View {
  const view = {} as View;
  for (const name of NAMES) {
    const value = parameters.get(name) ?? "";
    view[name] = TRIMMED.has(name) ? value.trim() : value;
  }
  // A pasted query may be too long.
  const q = [...view.q.slice(0, 2 * LIMITS.query)].slice(0, LIMITS.query).join("");
  return { ...view, q };
}

/** The address of the page that shows a view. */
export function viewPath(view: Partial<View>): string {
  const parameters = new URLSearchParams();
  for (const name of NAMES) if (view[name]) parameters.set(name, view[name]);
  return parameters.size > 0 ? `${PATHS.memories}?${parameters}` : PATHS.memories;
}

/** Whether the view has filters. */
export function isFiltered(view: View): boolean {
  return NAMES.some((name) => !NOT_FILTERS.has(name) && view[name] !== "");
}

/** Whether all matching memories can be changed at once: in filtered lists of the present, but not in the results of a search. */
export function canTakeAll(view: View): boolean {
  return view.q === "" && view.as_of === "" && isFiltered(view);
}

/** @throws AppError `validation_failed` */
function queryOf(view: View) {
  const parameters = NAMES.map((name) => (view[name] === "" ? null : FIELDS[name]?.(view[name])));
  return checkList(Object.assign({ limit: String(PAGE_SIZE) }, ...parameters));
}

/** What a view asks the list for, besides its filter. @throws AppError `validation_failed` */
export function listRequest(view: View) {
  const { cursor, sort: order } = queryOf(view);
  return { limit: PAGE_SIZE, cursor, order };
}

/** @throws AppError `validation_failed` */
export function searchRequest(view: View) {
  const { q, mode } = checkSearch({
    q: view.q,
    mode: "hybrid",
    limit: String(MAX_FOUND),
    min_score: "0",
    decay: "true",
    explain: "true",
    known: "true",
  });
  return { query: q, mode, limit: MAX_FOUND, explain: true, known: view.rest !== "1" };
}

/** The first moment of a day, plus `later` milliseconds. An invalid day is returned as it is; the check refuses it. */
function startOf(day: string, later = 0): string {
  const time = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? day : new Date(time + later).toISOString();
}
