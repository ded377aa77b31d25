import { readEntries, readObjects } from "../files/json-document.ts";
import { isObject, isText, type JsonObject, objectsOf } from "../files/json-objects.ts";
import type { Format, Found } from "./format.ts";

/**
 * The JSON export of mcp-memory-service: `{"export_metadata": {…}, "memories": [{"content",
 * "content_hash", "tags", "created_at", "updated_at", "memory_type", "metadata"}]}` with times in
 * seconds (src/mcp_memory_service/sync/importer.py in doobidoo/mcp-memory-service).
 */
export const memoryService: Format = {
  name: "an export of mcp-memory-service",
  origin: "mcp-memory-service",
  recognises: (head) => /^\s*\{/.test(head) && /"(export_metadata|content_hash)"\s*:/.test(head),
  read: (source) =>
    readEntries(source, function* (entry, at): Iterable<Found> {
      if (!isObject(entry) || typeof entry.content !== "string") {
        yield { at, problem: "has no content" };
        return;
      }
      const { content, content_hash: hash, metadata, memory_type } = entry;
      yield {
        at,
        memory: {
          content,
          tags: entry.tags,
          metadata: { ...(isObject(metadata) && metadata), memory_type },
          createdAt: entry.created_at ?? entry.created_at_iso,
          updatedAt: entry.updated_at ?? entry.updated_at_iso,
          ...(typeof hash === "string" && { key: hash }),
        },
      };
    }),
};

const isPart = ({ type }: JsonObject) => type === "entity" || type === "relation";

/**
 * The file of the reference MCP memory server (`@modelcontextprotocol/server-memory`): one entity with
 * observations, or one relation, per line. Each observation and each relation becomes a memory.
 */
export const memoryGraph: Format = {
  name: "a knowledge graph of the MCP memory server",
  origin: "memory-graph",
  recognises: (head) => objectsOf(head).some(isPart),
  read: (source) =>
    readObjects(source, (object, at) =>
      object.type === "entity"
        ? readEntity(object, at)
        : object.type === "relation"
          ? readRelation(object, at)
          : [{ at, problem: "is neither an entity nor a relation" }],
    ),
};

function* readEntity({ name, entityType, observations }: JsonObject, at: string): Iterable<Found> {
  if (typeof name !== "string" || !Array.isArray(observations)) {
    yield { at, problem: "has no name or no observations" };
    return;
  }
  const type = typeof entityType === "string" ? entityType : "";
  const common = { tags: [type], metadata: { entity: name, entity_type: type } };
  if (observations.length === 0) {
    yield { at, memory: { content: type === "" ? name : `${name} (${type})`, ...common } };
  }
  for (const observation of observations) {
    // In some versions an observation is an object.
    const text = isObject(observation) ? observation.content : observation;
    yield typeof text === "string"
      ? { at, memory: { content: `${name}: ${text}`, ...common } }
      : { at, problem: "has an observation that is not text" };
  }
}

function* readRelation({ from, to, relationType }: JsonObject, at: string): Iterable<Found> {
  if (typeof from !== "string" || typeof to !== "string" || typeof relationType !== "string") {
    yield { at, problem: "is a relation without its two entities and its type" };
    return;
  }
  const content = `${from} ${relationType.replaceAll("_", " ")} ${to}`;
  yield {
    at,
    memory: { content, tags: ["relation"], metadata: { from, relation: relationType, to } },
  };
}

const MARKS =
  /"(containerTags?|container_tags?|memoryEntries|isForgotten|is_forgotten|isLatest)"\s*:/;

/**
 * Responses of Supermemory's API, saved as JSON: documents (`POST /v3/documents/list`) with `content`,
 * `summary` and `containerTags`, and memories (`POST /v4/memories/list`) with `memory`, `isLatest` and
 * `isForgotten` (https://supermemory.ai/docs/api-reference/memories).
 */
export const supermemory: Format = {
  name: "an export of Supermemory",
  origin: "supermemory",
  // An export of agentmemory has `isLatest` too, but also `concepts` or `sessionIds`.
  recognises: (head) =>
    /^\s*[[{]/.test(head) && MARKS.test(head) && !/"(concepts|sessionIds)"\s*:/.test(head),
  read: (source) =>
    readEntries(source, readEntry, [
      ...["memories", "documents", "memoryEntries", "results", "data"].map((list) => `$.${list}.*`),
      "$.data.memories.*",
    ]),
};

function* readEntry(entry: unknown, at: string): Iterable<Found> {
  if (!isObject(entry)) {
    yield { at, problem: "has no memory" };
    return;
  }
  if (entry.isForgotten === true) {
    yield { at, leftOut: "memories that were forgotten there" };
    return;
  }
  if (entry.isLatest === false) {
    yield { at, leftOut: "former versions of memories" };
    return;
  }
  // A list of documents may have been requested without contents.
  const texts = [entry.memory, entry.content, entry.summary].filter(isText);
  const [content] = texts;
  if (content === undefined) {
    yield { at, problem: "has no text: ask for the contents too" };
    return;
  }
  const { id, customId, metadata, url, type } = entry;
  yield {
    at,
    memory: {
      content,
      subject: isText(entry.title) && entry.title !== content ? entry.title : null,
      tags: tagsOf(entry),
      metadata: { ...(isObject(metadata) && metadata), url, type, custom_id: customId },
      createdAt: entry.createdAt ?? entry.created_at,
      updatedAt: entry.updatedAt ?? entry.updated_at,
      expiresAt: entry.forgetAfter,
      ...(typeof id === "string" && { key: id }),
    },
  };
}

function tagsOf({ containerTags, containerTag, container_tags }: JsonObject): unknown {
  return containerTags ?? container_tags ?? containerTag;
}
