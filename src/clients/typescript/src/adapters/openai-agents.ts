import { type Tool, tool } from "@openai/agents";
import type { Client } from "../client.ts";
import { CtxdError } from "../error.ts";
import { describeMemoryTools, type MemoryToolOptions } from "./tools.ts";

export type { MemoryToolOptions } from "./tools.ts";

/** The tools of memories for an `Agent` of the OpenAI Agents SDK. */
export function memoryTools(client: Client, options?: MemoryToolOptions): Tool[] {
  return describeMemoryTools(client, options).map(({ name, description, parameters, run }) =>
    tool({
      name,
      description,
      parameters: { ...parameters, additionalProperties: true },
      // Fields may be left out.
      strict: false,
      execute: (input, _context, details) => run(input, details?.signal),
      errorFunction(_context, error) {
        if (!(error instanceof CtxdError)) throw error;
        return error.message;
      },
    }),
  );
}
