import type { Format, Found } from "./format.ts";
import { readEntries } from "./json-document.ts";
import { isObject } from "./json-objects.ts";

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
