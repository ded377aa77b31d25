import { Type } from "@sinclair/typebox";
import type { Memories } from "../memories/memories.ts";
import { formatDate, titleOf } from "./memory-text.ts";
import { noteOnMode, READS } from "./reading-tools.ts";
import { inProject } from "./session.ts";
import { defineTool, type Tool } from "./tool.ts";
import { fields } from "./tool-inputs.ts";

const strict = { additionalProperties: false };

/**
 * The two tools that ChatGPT's connectors ask for, by their names and in their shape: the data, and
 * the same as JSON in the text (https://developers.openai.com/api/docs/mcp).
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
      annotations: READS,
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
      description: "Full text of a result of search.",
      scope,
      annotations: READS,
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
