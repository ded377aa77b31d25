import type { CallToolResult, McpServer, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Static, TObject } from "@sinclair/typebox";
import type { Scope } from "../keys/scopes.ts";
import type { Log } from "../log.ts";
import { explainError } from "./explain-error.ts";
import type { Session } from "./session.ts";
import { toStandardSchema } from "./standard-schema.ts";

/** What a tool answers: a text that a model reads, and the same as data. */
export interface Outcome<Data> {
  text: string;
  data: Data;
}

interface Definition<Input extends TObject, Output extends TObject> {
  name: string;
  title: string;
  /** Tells a model when to use it. */
  description: string;
  /** What a principal must be allowed to see and to call it. */
  scope: Scope;
  annotations: Pick<ToolAnnotations, "readOnlyHint" | "destructiveHint" | "idempotentHint">;
  input: Input;
  output: Output;
  run(input: Static<Input>, session: Session): Promise<Outcome<Static<Output>>>;
}

/** A tool, ready to be offered to whoever may use it. */
export interface Tool {
  readonly name: string;
  readonly scope: Scope;
  offer(server: McpServer, session: Session, log: Log): void;
}

/** Makes a tool. Its schemas are compiled once; `offer` is called for every message. */
export function defineTool<Input extends TObject, Output extends TObject>({
  name,
  scope,
  title,
  description,
  annotations,
  input,
  output,
  run,
}: Definition<Input, Output>): Tool {
  const config = {
    title,
    description,
    inputSchema: toStandardSchema(input),
    outputSchema: toStandardSchema(output),
    annotations: { ...annotations, openWorldHint: false },
  };
  return {
    name,
    scope,
    offer(server, session, log) {
      server.registerTool(name, config, async (args): Promise<CallToolResult> => {
        try {
          const { text, data } = await run(args, session);
          return { content: [{ type: "text", text }], structuredContent: { ...data } };
        } catch (error) {
          const text = explainError(error, log);
          return { content: [{ type: "text", text }], isError: true };
        }
      });
    },
  };
}
