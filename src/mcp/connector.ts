import { Type } from "@sinclair/typebox";
import type { Principal } from "../http/principal.ts";
import type { Memories } from "../memories/rules/memories.ts";
import { firstLineOf, formatDate } from "../text/short-text.ts";
import { clientNameOf, isOpenAi } from "./http-message.ts";
import { noteOnMode, READING } from "./reading-tools.ts";
import { defineTool, inProject, type Tool } from "./tool.ts";
import { fields } from "./tool-inputs.ts";

const OPENAI_HOST = /^(.+\.)?(chatgpt|openai)\.com$/;

/**
 * Whether a client expects the tools `search` and `fetch`. Clients of OpenAI do; their user agent,
 * client name or app address shows it. Other clients may ask for the tools by `/mcp?connector=true`.
 * For all others the two tools would duplicate existing ones.
 * @param message the body of the request
 */
export function isConnector(request: Request, message: unknown, { app = "" }: Principal): boolean {
  return (
    isOpenAi(request.headers.get("user-agent")) ||
    isOpenAi(clientNameOf(message)) ||
    OPENAI_HOST.test(app) ||
    URL.parse(request.url)?.searchParams.get("connector") === "true"
  );
}

/**
 * The tools `search` and `fetch` that ChatGPT's connectors require. Both return structured data, and
 * the same data as JSON text (https://developers.openai.com/api/docs/mcp).
 * @param publicUrl origin of the links
 */
export function createConnectorTools(memories: Memories, publicUrl: string): Tool[] {
  const urlOf = (id: string) => `${publicUrl}/api/memories/${id}`;
  return [
    defineTool({
      name: "search",
      title: "Search",
      description: "Memory search for connectors; else use search_memories.",
      ...READING,
      input: Type.Object({ query: fields.query }),
      async run({ query }, session) {
        const { memories: found, mode } = await memories.search(session.principal, {
          query,
          limit: 10,
          filter: inProject(session, { isCurrent: true }),
          known: true,
        });
        const results = found.map(({ id, content, matched, space }) => ({
          id,
          title: firstLineOf(content),
          text: matched.text,
          url: urlOf(id),
          ...(space && { space }),
        }));
        const data = { results, ...(noteOnMode(mode) && { note: noteOnMode(mode) }) };
        return { text: JSON.stringify(data), data };
      },
    }),

    defineTool({
      name: "fetch",
      title: "Fetch",
      description: "Memory in full.",
      ...READING,
      input: Type.Object({ id: fields.id }),
      async run({ id }, { principal }) {
        const { content, tags, created_at, space } = await memories.get(principal, id);
        const data = {
          id,
          title: firstLineOf(content),
          text: content,
          url: urlOf(id),
          metadata: {
            created: formatDate(created_at),
            tags: tags.join(", "),
            ...(space && { space }),
          },
        };
        return { text: JSON.stringify(data), data };
      },
    }),
  ];
}
