import type { CallToolResult, McpServer, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Static, TObject } from "@sinclair/typebox";
import type { Scope } from "../keys/scopes.ts";
import type { Log } from "../log.ts";
import { explainError } from "./explain-error.ts";
import type { Session } from "./session.ts";
import { toStandardSchema } from "./standard-schema.ts";

/**
 * What a tool answers: a text that a model reads, and the same as data where the tool has an output
 * schema. Of the two, Claude Code, Codex, Copilot CLI and OpenCode show a model the data alone, Kimi
 * and Gemini CLI the text alone, and others both: one must say what the other says, and what is long
 * comes as text alone, which is shown once everywhere
 * (https://github.com/anthropics/claude-code/issues/79944,
 * https://github.com/github/copilot-cli/issues/3258, https://github.com/anomalyco/opencode/pull/32074).
 */
export interface Outcome {
  text: string;
  data?: object;
}

interface Definition<Input extends TObject> {
  name: string;
  title: string;
  /** Tells a model when to use it. */
  description: string;
  /** What a principal must be allowed to see and to call it. */
  scope: Scope;
  annotations: Pick<ToolAnnotations, "readOnlyHint" | "destructiveHint" | "idempotentHint">;
  input: Input;
  /** Of the data, where there are any. */
  output?: TObject;
  run(input: Static<Input>, session: Session): Promise<Outcome>;
}

/** A tool, ready to be offered to whoever may use it. */
export interface Tool {
  readonly name: string;
  readonly scope: Scope;
  offer(server: McpServer, session: Session, log: Log): void;
}

/** Makes a tool. Its schemas are compiled once; `offer` is called for every message. */
export function defineTool<Input extends TObject>({
  name,
  scope,
  title,
  description,
  annotations,
  input,
  output,
  run,
}: Definition<Input>): Tool {
  const config = {
    title,
    description,
    inputSchema: toStandardSchema(input),
    ...(output && { outputSchema: toStandardSchema(output) }),
    annotations: { ...annotations, openWorldHint: false },
  };
  return {
    name,
    scope,
    offer(server, session, log) {
      server.registerTool(name, config, async (args): Promise<CallToolResult> => {
        try {
          const { text, data } = await run(args, session);
          return {
            content: [{ type: "text", text }],
            ...(data && { structuredContent: { ...data } }),
          };
        } catch (error) {
          const text = explainError(error, log);
          return { content: [{ type: "text", text }], isError: true };
        }
      });
    },
  };
}
