import { isObject, isText, type JsonObject } from "../../text/parse-json.ts";
import { readEntries, readObjects } from "../files/json-document.ts";
import { objectsOf } from "../files/source.ts";
import type { EntryResult, Format } from "./format.ts";

/**
 * The result of mem0's `get_all` (`{"results": [{"id", "memory", "created_at", …}]}`,
 * https://docs.mem0.ai/api-reference/memory/get-memory), also with the names of its TypeScript client
 * (`createdAt`), and its entries as a list or one per line, as OpenMemory exports them.
 */
export const mem0: Format = {
  name: "an export of mem0",
  origin: "mem0",
  recognises: (head) => /^\s*[[{]/.test(head) && /"memory"\s*:\s*"/.test(head),
  read: (source) =>
    objectsOf(source.head).some(({ memory }) => typeof memory === "string")
      ? readObjects(source, readMemory)
      : readEntries(source, readMemory),
};

/** Reads an object with the text and other fields that many programs use. */
export function readMemory(found: unknown): EntryResult[] {
  const entry = isObject(found) ? inSnakeCase(found) : {};
  const text = entry.memory ?? entry.content ?? entry.text;
  if (typeof text !== "string") return [{ problem: "has no memory" }];
  const { user_id, app_id, actor_id, role, categories } = entry;
  const memory = {
    content: text,
    tags: categories,
    agent: entry.agent_id,
    session: entry.run_id,
    metadata: { ...(isObject(entry.metadata) && entry.metadata), user_id, app_id, actor_id, role },
    createdAt: entry.created_at,
    updatedAt: entry.updated_at,
    ...(typeof entry.id === "string" && { key: entry.id }),
  };
  return [{ memory }];
}

function inSnakeCase(entry: Record<string, unknown>): Record<string, unknown> {
  const rename = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(entry).map(([name, value]) => [rename(name), value]));
}

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
    readEntries(source, (entry) => {
      if (!isObject(entry) || typeof entry.content !== "string") {
        return [{ problem: "has no content" }];
      }
      const { content, content_hash: hash, metadata, memory_type } = entry;
      const memory = {
        content,
        tags: entry.tags,
        metadata: { ...(isObject(metadata) && metadata), memory_type },
        createdAt: entry.created_at ?? entry.created_at_iso,
        updatedAt: entry.updated_at ?? entry.updated_at_iso,
        ...(typeof hash === "string" && { key: hash }),
      };
      return [{ memory }];
    }),
};

/**
 * The file of the reference MCP memory server (`@modelcontextprotocol/server-memory`): one entity with
 * observations, or one relation, per line. Each observation and each relation becomes a memory.
 */
export const memoryGraph: Format = {
  name: "a knowledge graph of the MCP memory server",
  origin: "memory-graph",
  recognises: (head) =>
    objectsOf(head).some(({ type }) => type === "entity" || type === "relation"),
  read: (source) =>
    readObjects(source, (object) => {
      if (object.type === "entity") return readEntity(object);
      if (object.type === "relation") return readRelation(object);
      return [{ problem: "is neither an entity nor a relation" }];
    }),
};

function readEntity({ name, entityType, observations }: JsonObject): EntryResult[] {
  if (typeof name !== "string" || !Array.isArray(observations)) {
    return [{ problem: "has no name or no observations" }];
  }
  const type = typeof entityType === "string" ? entityType : "";
  const common = { tags: [type], metadata: { entity: name, entity_type: type } };
  if (observations.length === 0) {
    return [{ memory: { content: type === "" ? name : `${name} (${type})`, ...common } }];
  }
  return observations.map((observation) => {
    // In some versions an observation is an object.
    const text = isObject(observation) ? observation.content : observation;
    return typeof text === "string"
      ? { memory: { content: `${name}: ${text}`, ...common } }
      : { problem: "has an observation that is not text" };
  });
}

function readRelation({ from, to, relationType }: JsonObject): EntryResult[] {
  if (typeof from !== "string" || typeof to !== "string" || typeof relationType !== "string") {
    return [{ problem: "is a relation without its two entities and its type" }];
  }
  const content = `${from} ${relationType.replaceAll("_", " ")} ${to}`;
  const metadata = { from, relation: relationType, to };
  return [{ memory: { content, tags: ["relation"], metadata } }];
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
    readEntries(source, readSupermemory, [
      ...["memories", "documents", "memoryEntries", "results", "data"].map((list) => `$.${list}.*`),
      "$.data.memories.*",
    ]),
};

function readSupermemory(entry: unknown): EntryResult[] {
  if (!isObject(entry)) return [{ problem: "has no memory" }];
  if (entry.isForgotten === true) return [{ leftOut: "memories that were forgotten there" }];
  if (entry.isLatest === false) return [{ leftOut: "former versions of memories" }];
  // A list of documents may have been requested without contents.
  const content = [entry.memory, entry.content, entry.summary].find(isText);
  if (content === undefined) return [{ problem: "has no text: ask for the contents too" }];
  const { id, customId, metadata, url, type } = entry;
  const memory = {
    content,
    subject: isText(entry.title) && entry.title !== content ? entry.title : null,
    tags: entry.containerTags ?? entry.container_tags ?? entry.containerTag,
    metadata: { ...(isObject(metadata) && metadata), url, type, custom_id: customId },
    createdAt: entry.createdAt ?? entry.created_at,
    updatedAt: entry.updatedAt ?? entry.updated_at,
    expiresAt: entry.forgetAfter,
    ...(typeof id === "string" && { key: id }),
  };
  return [{ memory }];
}

/** The lists of an export whose entries become memories. */
const AGENTMEMORY_LISTS = [
  "memories",
  "semanticMemories",
  "proceduralMemories",
  "lessons",
  "insights",
  "summaries",
];

/**
 * `GET /agentmemory/export` of agentmemory: `{"version", "exportedAt", "sessions", "observations",
 * "memories", "summaries", …}` (`ExportData` in src/types.ts of rohitg00/agentmemory).
 */
export const agentmemory: Format = {
  name: "an export of agentmemory",
  origin: "agentmemory",
  recognises: (head) =>
    /^\s*\{/.test(head) &&
    (/"exportedAt"\s*:/.test(head) || /"(concepts|sessionIds)"\s*:/.test(head)) &&
    /"(sessions|observations|memories|summaries)"\s*:/.test(head),
  read: (source) =>
    readEntries(source, readAgentmemory, [
      ...AGENTMEMORY_LISTS.map((list) => `$.${list}.*`),
      "$.observations.*.*",
    ]),
};

function readAgentmemory(entry: unknown, list: string): EntryResult[] {
  if (!isObject(entry)) return [{ problem: "has no memory" }];
  if (entry.isLatest === false) return [{ leftOut: "former versions of memories" }];
  const content = contentOfAgentmemory(entry);
  if (content === null) return [{ problem: "has no text" }];
  const { id, title, type, concepts, files, confidence } = entry;
  const sessions = Array.isArray(entry.sessionIds) ? entry.sessionIds : [];
  const kind = typeof type === "string" ? [type] : [];
  const memory = {
    content,
    subject: isText(title) && title !== content ? title : null,
    tags: [...kind, ...(Array.isArray(concepts) ? concepts : [])],
    agent: entry.agentId,
    session: entry.sessionId ?? sessions[0],
    project: entry.project,
    metadata: { files, confidence },
    createdAt: entry.createdAt ?? entry.timestamp,
    updatedAt: entry.updatedAt,
    expiresAt: entry.forgetAfter,
    key: JSON.stringify([list.split(".")[0], id ?? entry.sessionId ?? content]),
  };
  return [{ memory }];
}

function contentOfAgentmemory(entry: JsonObject): string | null {
  const { name, steps, keyDecisions, facts } = entry;
  if (isText(name) && Array.isArray(steps)) {
    return [`${name}:`, ...steps.filter(isText).map((step) => `- ${step}`)].join("\n");
  }
  const texts = [entry.content, entry.fact, entry.narrative, entry.lesson, entry.insight];
  const textsOf = (list: unknown) => (Array.isArray(list) ? list.filter(isText) : []);
  const decisions = textsOf(keyDecisions);
  const points = decisions.length > 0 ? decisions : textsOf(facts);
  const all = [...texts.filter(isText).slice(0, 1), ...points.map((point) => `- ${point}`)];
  return all.length === 0 ? null : all.join("\n");
}
