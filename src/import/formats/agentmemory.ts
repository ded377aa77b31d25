import { readEntries } from "../files/json-document.ts";
import { isObject, isText, type JsonObject } from "../files/json-objects.ts";
import type { Format, Found } from "./format.ts";

/** The lists of an export whose entries become memories. */
const LISTS = [
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
    readEntries(source, readEntry, [...LISTS.map((list) => `$.${list}.*`), "$.observations.*.*"]),
};

function* readEntry(entry: unknown, at: string, list: string): Iterable<Found> {
  if (!isObject(entry)) {
    yield { at, problem: "has no memory" };
    return;
  }
  if (entry.isLatest === false) {
    yield { at, leftOut: "former versions of memories" };
    return;
  }
  const content = contentOf(entry);
  if (content === null) {
    yield { at, problem: "has no text" };
    return;
  }
  const { id, title, type, concepts, files, confidence } = entry;
  const sessions = Array.isArray(entry.sessionIds) ? entry.sessionIds : [];
  const kind = typeof type === "string" ? [type] : [];
  yield {
    at,
    memory: {
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
    },
  };
}

function contentOf(entry: JsonObject): string | null {
  const { name, steps, keyDecisions, facts } = entry;
  if (isText(name) && Array.isArray(steps)) {
    return [`${name}:`, ...steps.filter(isText).map((step) => `- ${step}`)].join("\n");
  }
  const text = [entry.content, entry.fact, entry.narrative, entry.lesson, entry.insight].find(
    isText,
  );
  const decisions = Array.isArray(keyDecisions) ? keyDecisions.filter(isText) : [];
  const points =
    decisions.length > 0 ? decisions : Array.isArray(facts) ? facts.filter(isText) : [];
  const all = [...(text === undefined ? [] : [text]), ...points.map((point) => `- ${point}`)];
  return all.length === 0 ? null : all.join("\n");
}
