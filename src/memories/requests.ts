import { Type } from "@sinclair/typebox";
import { checked, instant, numberText, parseInstant, problemOf, text } from "../input-kinds.ts";
import type { Filter } from "./filter.ts";
import { AgentId, LIMITS, Project, SessionId, Tag } from "./memory.ts";
import { SEARCH_MODES } from "./ranking/mode.ts";

const splitTags = (tags: string) => tags.split(",").map((tag) => tag.trim());

const tagList = checked<string>(
  {
    type: "string",
    description: "Comma-separated. A memory needs one of them, or all with `tags_match=all`.",
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

const flag = (defaultValue: boolean, description: string) =>
  Type.Union([Type.Literal("true"), Type.Literal("false")], {
    default: String(defaultValue),
    description,
  });

const deletionFields = {
  tags: Type.Optional(tagList),
  tags_match: Type.Optional(
    Type.Union([Type.Literal("any"), Type.Literal("all")], {
      description: "Whether one of `tags` is enough, as it is by default, or all are needed.",
    }),
  ),
  agent_id: Type.Optional(AgentId),
  session_id: Type.Optional(SessionId),
  project: Type.Optional({
    ...Project,
    description: "Memories of this project alone.",
  }),
  project_only: Type.Optional(flag(false, "`true` without `project`: memories of no project.")),
  source: Type.Optional(
    text({
      minLength: 1,
      maxLength: LIMITS.identifier,
      description: "Id of the key, of what an app was allowed, or of the account that wrote it.",
      examples: ["key_0197f2c4e0b47c3a9a1d5b8e2f60c711"],
    }),
  ),
  captured: Type.Optional(
    Type.Union([Type.Literal("true"), Type.Literal("false")], {
      description:
        "`true` for what was captured from conversations alone, `false` for what was saved otherwise.",
    }),
  ),
  created_before: Type.Optional(
    instant({ description: "Created before this moment.", examples: ["2026-12-01T00:00:00Z"] }),
  ),
};

const filterFields = {
  ...deletionFields,
  project: Type.Optional({
    ...Project,
    description: "Memories of this project and of none, or of it alone with `project_only=true`.",
  }),
  project_only: Type.Optional(
    flag(
      false,
      "Whether memories of no project are left out. Without `project` they alone are meant.",
    ),
  ),
  created_after: Type.Optional(
    instant({
      description: "Created at this moment or later.",
      examples: ["2026-11-01T00:00:00Z"],
    }),
  ),
};

/** What narrows searches and lists, where superseded memories come only when asked for. */
const visibleFields = {
  ...filterFields,
  include_superseded: Type.Optional(
    flag(false, "Whether memories come that others have superseded."),
  ),
};

const LIMIT = "How many memories to return at most.";

const strict = { additionalProperties: false };

/** The query of `GET /memories/search`. */
export const SearchQuery = Type.Object(
  {
    q: text(
      {
        minLength: 1,
        maxLength: LIMITS.query,
        description:
          "What to look for, in natural language. Of a time that it names, such as last week or in May 2023, memories come first.",
        examples: ["what should I call the user"],
      },
      { notBlank: true },
    ),
    limit: numberText("integer", {
      minimum: 1,
      maximum: LIMITS.page,
      default: 10,
      description: LIMIT,
    }),
    ...visibleFields,
    min_score: numberText("number", {
      minimum: 0,
      maximum: 1,
      default: 0,
      description:
        "Memories with a lower `score` are left out: the score as it is shown, decay included.",
    }),
    mode: Type.Union(
      SEARCH_MODES.map((mode) => Type.Literal(mode)),
      { default: "hybrid", description: "By meaning and words, by meaning, or by words alone." },
    ),
    known: flag(
      false,
      "Whether only memories are found whose score, age aside, is high enough to take them for answers; with the mode `hybrid`. None means that nothing is known about what was asked.",
    ),
    decay: flag(true, "Whether the score of a memory falls with its age."),
    explain: flag(false, "Whether each memory comes with the parts of its score."),
  },
  strict,
);

/** The query of `POST /memories`. */
export const CreationQuery = Type.Object(
  {
    similar: flag(
      false,
      "Whether memories are told that say nearly the same, or may be outdated by it.",
    ),
  },
  strict,
);

/** The query of `GET /memories`. */
export const ListQuery = Type.Object(
  {
    ...visibleFields,
    limit: numberText("integer", {
      minimum: 1,
      maximum: LIMITS.page,
      default: 20,
      description: LIMIT,
    }),
    cursor: Type.Optional(
      Type.String({ maxLength: 200, description: "`next_cursor` of the page before." }),
    ),
  },
  strict,
);

/** The query of `GET /memories/export`. */
export const ExportQuery = Type.Object(filterFields, strict);

/** The query of `POST /memories/import`. */
export const ImportQuery = Type.Object(
  { dry_run: flag(false, "Whether only to tell what would be done.") },
  strict,
);

/** The query of `GET /memories/:id/history`. */
export const HistoryQuery = Type.Object(
  {
    limit: numberText("integer", {
      minimum: 1,
      maximum: LIMITS.page,
      default: LIMITS.page,
      description: LIMIT,
    }),
    cursor: Type.Optional(
      text({ minLength: 1, maxLength: 36, description: "`next_cursor` of the page before." }),
    ),
  },
  strict,
);

/** The query of `DELETE /memories/:id`. */
export const RemovalQuery = Type.Object(
  {
    history: flag(
      false,
      "Whether what it superseded and what superseded it is deleted too. Otherwise these are linked with each other.",
    ),
  },
  strict,
);

/** The query of `DELETE /memories`. */
export const DeletionQuery = Type.Object(deletionFields, strict);

/** The body of `POST /memories/move`. */
export const Move = Type.Object(
  {
    project: Type.Union([Project, Type.Null()], {
      description: "The project that they belong to from now on; `null` for none.",
      examples: ["atlas"],
    }),
  },
  strict,
);

/** Headers of requests that make memories. */
export const CreationHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "The same key within 24 hours makes nothing new and is answered alike.",
    }),
  ),
});

/** Headers of requests that change a memory. */
export const ChangeHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({ description: "The memory's `ETag`: refuse if it has changed since." }),
  ),
});

interface FilterQuery {
  tags?: string;
  tags_match?: "any" | "all";
  agent_id?: string;
  session_id?: string;
  project?: string;
  project_only?: "true" | "false";
  source?: string;
  captured?: "true" | "false";
  created_after?: string;
  created_before?: string;
}

/** The filter that a query asks for. */
export function toFilter(query: FilterQuery): Filter {
  const after = query.created_after && parseInstant(query.created_after);
  const before = query.created_before && parseInstant(query.created_before);
  const projects = projectsOf(query);
  return {
    ...(query.tags !== undefined && { tags: splitTags(query.tags) }),
    ...(query.tags_match && { tagsMatch: query.tags_match }),
    ...(query.agent_id !== undefined && { agentId: query.agent_id }),
    ...(query.session_id !== undefined && { sessionId: query.session_id }),
    ...(projects.length > 0 && { projects }),
    ...(query.source !== undefined && { sourceId: query.source }),
    ...(query.captured !== undefined && { isCaptured: query.captured === "true" }),
    ...(typeof after === "number" && { createdAfter: after }),
    ...(typeof before === "number" && { createdBefore: before }),
  };
}

/** A name stands for the project and for none, unless it is to be the only one. */
function projectsOf({ project, project_only: only }: FilterQuery): (string | null)[] {
  if (project === undefined) return only === "true" ? [null] : [];
  return only === "true" ? [project] : [project, null];
}

/** The filter of a deletion or a move, where a project does not stand for none too. */
export function toExactFilter(query: FilterQuery): Filter {
  return toFilter({ ...query, ...(query.project !== undefined && { project_only: "true" }) });
}

/** The filter of a search or a list: of what is known now, unless what was known before is asked for. */
export function toVisibleFilter(
  query: FilterQuery & { include_superseded?: "true" | "false" },
): Filter {
  return { ...toFilter(query), isCurrent: query.include_superseded !== "true" };
}
