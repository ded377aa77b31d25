import { type Static, type TProperties, Type } from "@sinclair/typebox";
import {
  checked,
  instant,
  numberText,
  parseEnd,
  parseInstant,
  problemOf,
  text,
} from "../../text/input-kinds.ts";
import { applyTable, type FieldTable } from "../model/field-table.ts";
import { type Filter, ORDERS, USE_ORDERS } from "../model/filter.ts";
import { AgentId, LIMITS, Project, SessionId, Tag } from "../model/memory.ts";
import { SEARCH_MODES } from "../ranking/question.ts";

const splitTags = (tags: string) => tags.split(",").map((tag) => tag.trim());

const tagList = checked<string>(
  {
    type: "string",
    description: "Comma-separated. A memory must have one of them, or all with `tags_match=all`.",
    examples: ["work,travel"],
  },
  (value) => {
    if (typeof value !== "string") return "must be a string";
    const tags = splitTags(value);
    if (tags.length > LIMITS.tags) return `must name at most ${LIMITS.tags} tags`;
    const problem = tags.map((tag) => problemOf(Tag, tag)).find((found) => found !== null);
    return problem ? `has a tag that ${problem}` : null;
  },
);

export const flag = (defaultValue: boolean | null, description: string) =>
  Type.Union([Type.Literal("true"), Type.Literal("false")], {
    ...(defaultValue !== null && { default: String(defaultValue) }),
    description,
  });

const deletionFields = {
  tags: Type.Optional(tagList),
  tags_match: Type.Optional(
    Type.Union([Type.Literal("any"), Type.Literal("all")], {
      description: "Whether a memory must have one of `tags` (the default) or all.",
    }),
  ),
  agent_id: Type.Optional(AgentId),
  session_id: Type.Optional(SessionId),
  project: Type.Optional({
    ...Project,
    description: "Only memories of this project.",
  }),
  project_only: Type.Optional(flag(false, "`true` without `project`: memories of no project.")),
  source: Type.Optional(
    text({
      minLength: 1,
      maxLength: LIMITS.identifier,
      description: "Id of the key, the app's grant or the account that wrote the memory.",
      examples: ["key_0197f2c4e0b47c3a9a1d5b8e2f60c711"],
    }),
  ),
  captured: Type.Optional(
    flag(
      null,
      "`true`: only memories that were captured from conversations. `false`: only others.",
    ),
  ),
  created_before: Type.Optional(
    instant({ description: "Created before this moment.", examples: ["2026-12-01T00:00:00Z"] }),
  ),
};

const filterFields = {
  ...deletionFields,
  project: Type.Optional({
    ...Project,
    description:
      "Memories of this project and of none; only of this project with `project_only=true`. `*` means all projects.",
  }),
  project_only: Type.Optional(
    flag(
      false,
      "Whether memories of no project are left out. Without `project`: only memories of no project.",
    ),
  ),
  created_after: Type.Optional(
    instant({
      description: "Created at this moment or later.",
      examples: ["2026-11-01T00:00:00Z"],
    }),
  ),
};

const asOf = (description: string) =>
  Type.Optional(instant({ description, examples: ["2026-03-03T23:59:59Z"] }));

/** The filters of searches and lists, which leave out superseded memories by default. */
const visibleFields = {
  ...filterFields,
  include_superseded: Type.Optional(flag(false, "Whether superseded memories are included.")),
  as_of: asOf(
    "What was known at this moment; a date means its end in UTC. Memories that were superseded later are found, and those that were saved later are not. Ages and times in the query, such as last week, are those of that moment. Deleted and expired memories can't come back, and texts are as they are now. A moment in the future means now.",
  ),
};

export const limit = (standard: number) =>
  numberText("integer", {
    minimum: 1,
    maximum: LIMITS.page,
    default: standard,
    description: "The most memories to return.",
  });

/** A query, which may choose a space besides its own fields. The principal of the request has it; see `chooseSpace`. */
export const query = <Fields extends TProperties>(fields: Fields) =>
  Type.Object({ ...fields, ...spaceField }, { additionalProperties: false });
const spaceField = {
  space: Type.Optional(
    Type.String({
      description:
        "Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded.",
      examples: ["acme"],
    }),
  ),
};

/** The query of `GET /memories/search`. */
export const SearchQuery = query({
  q: text(
    {
      minLength: 1,
      maxLength: LIMITS.query,
      description:
        "What to look for, in natural language. If the query names a time, such as last week or in May 2023, memories of that time come first.",
      examples: ["what should I call the user"],
    },
    { notBlank: true },
  ),
  limit: limit(10),
  ...visibleFields,
  min_score: numberText("number", {
    minimum: 0,
    maximum: 1,
    default: 0,
    description: "Memories with a lower `score` are left out. Decay is part of the score.",
  }),
  mode: Type.Union(
    SEARCH_MODES.map((mode) => Type.Literal(mode)),
    { default: "hybrid", description: "Compare meaning and words, only meaning, or only words." },
  ),
  known: flag(
    false,
    "Whether to return only memories that are likely answers, with the mode `hybrid`. Their score without decay must be high enough. An empty result means that nothing is known about the query.",
  ),
  decay: flag(true, "Whether a memory's score falls with its age."),
  explain: flag(false, "Whether each memory has an `explanation` of its score."),
});

/** The query of `POST /memories`. */
export const CreationQuery = query({
  similar: flag(
    false,
    "Whether the answer lists memories that say nearly the same, or that the new one may have outdated.",
  ),
});

/** The query of `GET /memories`. */
export const ListQuery = query({
  ...visibleFields,
  limit: limit(20),
  sort: Type.Optional(
    Type.Union(
      [...ORDERS, ...USE_ORDERS].map((order) => Type.Literal(order)),
      {
        default: "newest",
        description:
          "The newest or the most important memories first, those that were found and recalled most often, or those that never were, the oldest first.",
      },
    ),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 200, description: "`next_cursor` of the previous page." }),
  ),
});

/** The query of `GET /memories/export`. */
export const ExportQuery = query(filterFields);

/** The query of `POST /memories/import`. */
export const ImportQuery = query({
  dry_run: flag(false, "Whether to report what would be done, and change nothing."),
});

/** The query of `GET /memories/:id/history`. */
export const HistoryQuery = query({
  limit: limit(LIMITS.page),
  cursor: Type.Optional(
    text({ minLength: 1, maxLength: 36, description: "`next_cursor` of the previous page." }),
  ),
  as_of: asOf("Only memories that were saved by this moment; a date means its end in UTC."),
});

/** The query of `DELETE /memories/:id`. */
export const RemovalQuery = query({
  history: flag(
    false,
    "Whether the memory's whole history is deleted too. Otherwise the memories before and after it are linked with each other.",
  ),
});

/** The query of `DELETE /memories`. */
export const DeletionQuery = query(deletionFields);

/** The query of requests without fields of their own. */
export const SpaceQuery = query({});

/** The body of `POST /memories/move`. */
export const Move = Type.Object(
  {
    project: Type.Union([Project, Type.Null()], {
      description: "The new project of the memories; `null` for none.",
      examples: ["atlas"],
    }),
  },
  { additionalProperties: false },
);

/** Headers of requests that save memories. */
export const CreationHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        "A repeated request with the same key within 24 hours saves nothing and gets the same answer.",
    }),
  ),
});

/** Headers of requests that change a memory. */
export const ChangeHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({
      description: "The memory's `ETag`. The change is refused if the memory has changed since.",
    }),
  ),
});

type FilterQuery = Omit<Static<typeof ExportQuery>, "space">;

/** The part of a filter that each parameter makes. */
const FILTERS: FieldTable<FilterQuery, FilterQuery, Filter> = {
  tags: (tags) => ({ tags: splitTags(tags) }),
  tags_match: (tagsMatch) => ({ tagsMatch }),
  agent_id: (agentId) => ({ agentId }),
  session_id: (sessionId) => ({ sessionId }),
  project: (_, query) => ofProjects(query),
  project_only: (_, query) => ofProjects(query),
  source: (sourceId) => ({ sourceId }),
  captured: (captured) => ({ isCaptured: captured === "true" }),
  created_after: (text) => ofTime(text, (createdAfter) => ({ createdAfter })),
  created_before: (text) => ofTime(text, (createdBefore) => ({ createdBefore })),
};

/** The filter of a query. */
export function toFilter(query: FilterQuery): Filter {
  return Object.assign({}, ...applyTable(FILTERS, query, query));
}

function ofTime(text: string, filterOf: (time: number) => Filter): Filter {
  const time = parseInstant(text);
  return time === null ? {} : filterOf(time);
}

/** As a filter, all projects and none. */
export const ALL_PROJECTS = "*";

/** A named project includes memories of no project, unless only it is asked for. */
function ofProjects({ project, project_only: only }: FilterQuery): Filter {
  if (project === ALL_PROJECTS) return {};
  if (project === undefined) return only === "true" ? { projects: [null] } : {};
  return { projects: only === "true" ? [project] : [project, null] };
}

/** The filter of a deletion or a move, where a named project does not include memories of no project. */
export function toExactFilter({ project, ...query }: FilterQuery): Filter {
  const filter = toFilter(query);
  return project === undefined ? filter : { ...filter, projects: [project] };
}

/** The filter of a search or a list. Superseded memories are left out unless they are asked for. */
export function toVisibleFilter({
  include_superseded,
  as_of,
  ...query
}: FilterQuery & { include_superseded?: "true" | "false"; as_of?: string }): Filter {
  const knownAt = parseEnd(as_of);
  const isCurrent = include_superseded !== "true";
  return { ...toFilter(query), isCurrent, ...(knownAt !== undefined && { knownAt }) };
}
