import { Type } from "@sinclair/typebox";
import type { Memories } from "../memories/rules/memories.ts";
import { formatDate, titleOf } from "../text/short-text.ts";
import { noteOnMode, READ_ONLY } from "./reading-tools.ts";
import { inProject } from "./session.ts";
import { defineTool, type Tool } from "./tool.ts";
import { fields } from "./tool-inputs.ts";

const strict = { additionalProperties: false };

/**
 * The tools `search` and `fetch` that ChatGPT's connectors require. Both return structured data, and
 * the same data as JSON text (https://developers.openai.com/api/docs/mcp).
 * @param publicUrl origin of the links
 */
export function createConnectorTools(memories: Memories, publicUrl: string): Tool[] {
  const scope = "memories:read";
  const urlOf = (id: string) => `${publicUrl}/api/memories/${id}`;
  return [
    defineTool({
      name: "search",
      title: "Search",
      description: "For connectors; else use search_memories.",
      scope,
      annotations: READ_ONLY,
      input: Type.Object({ query: fields.query }, strict),
      async run({ query }, session) {
        const { memories: found, mode } = await memories.search(session.principal, {
          query,
          limit: 10,
          filter: inProject(session, { isCurrent: true }),
          minScore: 0,
          mode: "hybrid",
          known: true,
        });
        const results = found.map(({ id, content, matched }) => ({
          id,
          title: titleOf(content),
          text: matched.text,
          url: urlOf(id),
        }));
        const data = { results, ...(noteOnMode(mode) && { note: noteOnMode(mode) }) };
        return { text: JSON.stringify(data), data };
      },
    }),

    defineTool({
      name: "fetch",
      title: "Fetch",
      description: "Full text of a search result.",
      scope,
      annotations: READ_ONLY,
      input: Type.Object({ id: fields.id }, strict),
      async run({ id }, { principal }) {
        const { content, tags, created_at } = await memories.get(principal, id);
        const data = {
          id,
          title: titleOf(content),
          text: content,
          url: urlOf(id),
          metadata: { created: formatDate(created_at), tags: tags.join(", ") },
        };
        return { text: JSON.stringify(data), data };
      },
    }),
  ];
}
