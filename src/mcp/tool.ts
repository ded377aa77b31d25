import type { CallToolResult, McpServer, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Static, TObject } from "@sinclair/typebox";
import type { Scope } from "../keys/scopes.ts";
import type { Log } from "../log.ts";
import { explainError } from "./explain-error.ts";
import type { Session } from "./session.ts";
import { toStandardSchema } from "./standard-schema.ts";

/**
 * The result of a tool: text for the model, and the same as data where the tool has an output schema.
 * Claude Code, Codex, Copilot CLI and OpenCode show a model only the data, Kimi and Gemini CLI only
 * the text, other clients both. So both must say the same, and long results are text only, which
 * every client shows once
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
  /** Tells a model when to use the tool. */
  description: string;
  /** The scope that a principal needs to see and to call the tool. */
  scope: Scope;
  annotations: Pick<ToolAnnotations, "readOnlyHint" | "destructiveHint" | "idempotentHint">;
  input: Input;
  /** Schema of the data; none for a tool that returns text only. */
  output?: TObject;
  run(input: Static<Input>, session: Session): Promise<Outcome>;
}

/** A tool. `offer` registers it with the server of one message. */
export interface Tool {
  readonly name: string;
  readonly scope: Scope;
  offer(server: McpServer, session: Session, log: Log): void;
}

/** Creates a tool. Its schemas are compiled once; `offer` is called for every message. */
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
