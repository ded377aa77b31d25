import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { AppError } from "../errors.ts";
import {
  ALL_PROJECTS,
  ListQuery,
  SearchQuery,
  toVisibleFilter,
} from "../memories/http/requests.ts";
import { LIMITS, NewMemory } from "../memories/model/memory.ts";
import { inProject, type Session } from "./tool.ts";

/** A schema with another description and without examples, to keep `tools/list` short. */
function brief<Schema extends TSchema>(schema: Schema, description?: string): Schema {
  const { examples: _, description: __, default: ___, ...rest } = schema;
  return { ...rest, ...(description && { description }) } as Schema;
}

const { content, tags, agent_id, session_id, importance, pinned, metadata } = NewMemory.properties;
const { project, supersedes, expires_at } = NewMemory.properties;

/** A field that `null` clears. */
export const clearable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** The fields of a memory as tools take them, with the same limits as over HTTP. */
export const fields = {
  content: brief(content, "One fact, understandable on its own: names, dates, reasons"),
  tags: brief(tags),
  agent_id: brief(agent_id),
  importance: brief(importance, "0 to 1, default 0.5; higher fades slower"),
  /** For updates. */
  newImportance: brief(importance, "0 to 1"),
  metadata: brief(metadata),
  project: brief(project.anyOf[0]),
  pinned: brief(pinned),
  expires_at: brief(expires_at.anyOf[0]),
  supersedes: brief(supersedes.anyOf[0], "Id of what was true before"),
  id: Type.String({ maxLength: LIMITS.identifier }),
  query: brief(SearchQuery.properties.q),
};

/** Filters of a search or a list. */
export const filterFields = {
  tags: Type.Optional(brief(tags, "Any of these")),
  agent_id: Type.Optional(brief(agent_id)),
  session_id: Type.Optional(brief(session_id)),
  project: Type.Optional(fields.project),
  created_after: Type.Optional(brief(ListQuery.properties.created_after)),
  created_before: Type.Optional(brief(ListQuery.properties.created_before)),
};

const Filters = Type.Object(filterFields);

/**
 * The filter of a tool's input, limited to the project of the session. A conversation that is in a project only because
 * of its folder may look into all.
 * @throws AppError `forbidden` for another project
 */
export function filterOf({ tags: wanted, ...rest }: Static<typeof Filters>, session: Session) {
  const { project = session.project } = rest;
  const wantsAll = project === ALL_PROJECTS && session.principal.bound === null;
  if (!wantsAll && session.project !== null && project !== session.project) {
    const message = `This conversation is limited to the project ${session.project}.`;
    throw new AppError("forbidden", message);
  }
  const filter = toVisibleFilter({
    ...rest,
    ...(wanted && wanted.length > 0 && { tags: wanted.join(",") }),
  });
  return wantsAll ? filter : inProject(session, filter);
}

/** Limits of a result. */
export const pageFields = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.page })),
  max_tokens: Type.Optional(
    Type.Integer({ minimum: 200, maximum: 50_000, description: "Default 2000" }),
  ),
};
