import type {
  CallToolResult,
  McpServer,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { AppError, stackOf } from "../errors.ts";
import { chooseSpace, type Principal } from "../http/principal.ts";
import { validationError } from "../http/requests/validation.ts";
import { requireScope } from "../keys/reach.ts";
import type { Scope } from "../keys/scopes.ts";
import type { Log } from "../log.ts";
import type { Filter } from "../memories/model/filter.ts";

/**
 * The error message for a model: what is wrong and what to do next. The details of an unexpected
 * error go to the log only; the model gets the id under which it was logged.
 */
export function explainError(thrown: unknown, log: Log): string {
  if (thrown instanceof AppError && thrown.status < 500) {
    return thrown.code === "memory_not_found"
      ? `${thrown.message} Search first: search_memories and list_memories show the ids.`
      : thrown.message;
  }
  const id = crypto.randomUUID();
  const cause = thrown instanceof AppError ? (thrown.cause ?? thrown) : thrown;
  const code = thrown instanceof AppError ? thrown.code : "internal";
  log.error("tool_failed", { code, id, cause: stackOf(cause) });
  if (thrown instanceof AppError && thrown.code === "unavailable") {
    const when = thrown.retryAfter === undefined ? "later" : `in ${thrown.retryAfter} s`;
    return `${thrown.message} Try again ${when}.`;
  }
  return `Something went wrong on the server (${id} in its log). Nothing was returned.`;
}

/**
 * Keywords that are checked but not published: `tools/list` costs tokens in every conversation, and
 * a model that breaks such a rule learns it from the error message.
 */
const UNPUBLISHED = new Set([
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "maxItems",
  "minProperties",
  "format",
]);

function publish(schema: object): Record<string, unknown> {
  // Serializing also drops the symbol keys of TypeBox and of our own checks.
  const text = JSON.stringify(schema, (key, value) =>
    // Additional properties are allowed by default.
    UNPUBLISHED.has(key) || (key === "additionalProperties" && value === true) ? undefined : value,
  );
  return JSON.parse(text);
}

/**
 * Adapts a TypeBox schema to the form that the MCP library takes (https://standardschema.dev). Error
 * messages are the same as over HTTP and do not repeat the value.
 */
export function toStandardSchema<Schema extends TObject>(
  schema: Schema,
): StandardSchemaWithJSON<Static<Schema>> {
  const shape = TypeCompiler.Compile(schema);
  const json = publish(schema);
  return {
    "~standard": {
      version: 1,
      vendor: "ctxd",
      validate(value) {
        if (shape.Check(value)) return { value };
        const { details = [], message } = validationError(shape.Errors(value));
        const issues = details.map((detail) => ({
          message: `${detail.path.slice(1) || "the input"} ${detail.message}`,
        }));
        return { issues: issues.length > 0 ? issues : [{ message }] };
      },
      jsonSchema: { input: () => json, output: () => json },
    },
  };
}

/** The context in which one message is answered. */
export interface Session {
  readonly principal: Principal;
  /** The agent of new memories, unless the call names one. */
  readonly agentId: string | null;
  /**
   * The current project: that of new memories, unless the call names one. For a principal that is
   * bound to a project it is always that project.
   */
  readonly project: string | null;
  /** The conversation of new memories. It comes from the transport, never from a model. */
  readonly sessionId: string | null;
  /** A repeated key saves nothing new within 24 hours, so that a failed call may be sent again. */
  readonly idempotencyKey: string | undefined;
  /** Whether to offer the connector tools `search` and `fetch`; see `isConnector`. */
  readonly isConnector: boolean;
  /** Does the work of the message while its account has its turn; see `Turns`. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Limits a filter to the session's project and memories without one, unless it names projects. */
export function inProject({ project }: Pick<Session, "project">, filter: Filter): Filter {
  return project === null || filter.projects ? filter : { ...filter, projects: [project, null] };
}

/** The spaces from which a call may choose. Whoever has none, or has chosen by the key or a header, has no choice. */
export function spacesOf({ principal }: Pick<Session, "principal">) {
  return principal.spaces ?? [];
}

/**
 * The same session in the space that a call names, or outside of all.
 * @throws AppError as `chooseSpace`, and `forbidden` where the person's role does not allow the call
 */
function inNamedSpace(session: Session, name: string | undefined, scope: Scope): Session {
  if (name === undefined) return session;
  const person = { ...session.principal, spaces: spacesOf(session) };
  const principal = chooseSpace(person, null, name);
  requireScope(principal, scope);
  return { ...session, principal };
}

/**
 * The result of a tool: text for the model, and the same as data where the tool has an output schema.
 * Claude Code, Codex, Copilot CLI and OpenCode show a model only the data, Kimi and Gemini CLI only
 * the text, other clients both. So both must say the same, and long results are text only, which
 * every client shows once
 * (https://github.com/anthropics/claude-code/issues/79944,
 * https://github.com/github/copilot-cli/issues/3258, https://github.com/anomalyco/opencode/pull/32074).
 */
interface Outcome {
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
  /** Other fields are refused. */
  input: Input;
  /**
   * For a tool that takes the name of a space besides: what the name means. Only people with spaces see the field, so that
   * it costs the others nothing.
   */
  space?: string;
  /** Schema of the data; none for a tool that returns text only. */
  output?: TObject;
  run(input: Static<Input>, session: Session): Promise<Outcome>;
}

/** The input of a tool with the name of a space. */
function withSpaceField<Input extends TObject>(input: Input, description: string) {
  const space = Type.Optional(Type.String({ description }));
  return { ...input, properties: { ...input.properties, space }, additionalProperties: false };
}

type Arguments<Input extends TObject> = Static<Input> & { space?: string };

export type Tool = ReturnType<typeof defineTool>;

/** Creates a tool. Its schemas are compiled once. */
export function defineTool<Input extends TObject>({
  name,
  scope,
  title,
  description,
  annotations,
  input,
  space,
  output,
  run,
}: Definition<Input>) {
  const config = {
    title,
    description,
    inputSchema: toStandardSchema({ ...input, additionalProperties: false }),
    ...(output && { outputSchema: toStandardSchema(output) }),
    annotations: { ...annotations, openWorldHint: false },
  };
  let withSpace: typeof config | null = null;
  const configFor = (session: Session) => {
    if (space === undefined || spacesOf(session).length === 0) return config;
    withSpace ??= { ...config, inputSchema: toStandardSchema(withSpaceField(input, space)) };
    return withSpace;
  };
  const runIn = (session: Session, { space: chosen, ...args }: Arguments<Input>) =>
    run(args as Static<Input>, inNamedSpace(session, chosen, scope));

  return {
    name,
    scope,
    /** Registers the tool with the server of one message. */
    offer(server: McpServer, session: Session, log: Log): void {
      server.registerTool(name, configFor(session), async (args): Promise<CallToolResult> => {
        try {
          const { text, data } = await session.inTurn(() => runIn(session, args));
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
