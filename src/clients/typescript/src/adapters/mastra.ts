import { createTool, type Tool } from "@mastra/core/tools";
import type { Client } from "../client.ts";
import { describeMemoryTools, type MemoryToolOptions } from "./tools.ts";

export type { MemoryToolOptions } from "./tools.ts";

/** The tools of memories for an `Agent` of Mastra. */
export function memoryTools(client: Client, options?: MemoryToolOptions): { [name: string]: Tool } {
  const tools = describeMemoryTools(client, options);
  return Object.fromEntries(
    tools.map(({ name, description, parameters, run }) => [
      name,
      createTool({
        id: name,
        description,
        inputSchema: parameters,
        execute: (input, context) => run(input, context?.abortSignal),
      }),
    ]),
  );
}
