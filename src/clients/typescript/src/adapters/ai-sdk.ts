import { jsonSchema, type ToolSet, tool } from "ai";
import type { Client } from "../client.ts";
import { describeMemoryTools, type MemoryToolOptions } from "./tools.ts";

export type { MemoryToolOptions } from "./tools.ts";

/** The tools of memories for `generateText`, `streamText` and agents of the Vercel AI SDK. */
export function memoryTools(client: Client, options?: MemoryToolOptions): ToolSet {
  const tools = describeMemoryTools(client, options);
  return Object.fromEntries(
    tools.map(({ name, description, parameters, run }) => {
      const inputSchema = jsonSchema<unknown>(parameters);
      const execute = (input: unknown, { abortSignal }: { abortSignal?: AbortSignal }) =>
        run(input, abortSignal);
      return [name, tool({ description, inputSchema, execute })];
    }),
  );
}
