import type { Format, Found } from "./format.ts";
import { readEntries } from "./json-document.ts";
import { isObject, isText, type JsonObject } from "./json-objects.ts";

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
