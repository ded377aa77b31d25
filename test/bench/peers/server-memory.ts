import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { EmbeddedMemory, Peer } from "./peer.ts";

const PROGRAM = Bun.fileURLToPath(
  import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
);

/** The reference server for a memory by MCP. It looks for a text as it is, so it is asked for one word of a question. */
export const serverMemoryPeer: Peer = {
  name: "server-memory",
  needsVectors: false,
  scope: "a literal text; is written without a sync; none",
  async start(folder) {
    const transport = new StdioClientTransport({
      ...{ command: Bun.which("node") ?? process.execPath, args: [PROGRAM], stderr: "ignore" },
      env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
    });
    const client = new Client({ name: "ctxd-bench", version: "1.0.0" });
    await client.connect(transport);

    const call = async (name: string, args: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: args });
      const answer = JSON.stringify(content);
      if (isError) throw new Error(answer);
      return answer;
    };
    const load = (memories: readonly EmbeddedMemory[]) =>
      call("create_entities", {
        entities: memories.map(({ id, memory }) => ({
          ...{ name: id, entityType: "memory", observations: [memory.content] },
        })),
      });
    return {
      ...(transport.pid !== null && { pid: transport.pid }),
      load,
      save: (memory) => load([memory]),
      search: ({ text }) => call("search_nodes", { query: longestWordOf(text) }),
      stop: () => client.close(),
    };
  },
};

function longestWordOf(text: string): string {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.sort((a, b) => b.length - a.length)[0] ?? "";
}
