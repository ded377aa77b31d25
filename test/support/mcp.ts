import {
  Client as ModernClient,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** What a tool answered. */
export interface Result {
  text: string;
  data: Record<string, unknown>;
  isError: boolean;
}

/** Makes a client one of OpenAI's, which are offered `search` and `fetch` too. */
export const AS_CONNECTOR = { "user-agent": "openai-mcp/1.0.0" };

/** A memory as a text shows it. */
export interface Shown {
  id: string;
  content: string;
  /** What the line about it says, such as `project: atlas`. */
  facts: string[];
}

/** The memories in what a tool answered, if their contents have no blank lines. */
export function shownIn({ text }: Result): Shown[] {
  // Lines of a content are indented, also after an empty one.
  return text.split(/\n\n(?=\S)/).flatMap((part) => {
    const [line = "", ...lines] = part.split("\n");
    const [id = "", ...facts] = line.split(" · ");
    const content = lines.map((each) => each.replace(/^ {2}/, "")).join("\n");
    return /^mem_[0-9a-f]{32}$/.test(id) ? [{ id, facts, content }] : [];
  });
}

/** The clients of two generations, as one. */
export type McpClient = Awaited<ReturnType<typeof connect>>;

/** Clients from npm, by the protocol they speak: the first SDK, the second in both its eras. */
export const CLIENTS = ["v1", "v2 old", "v2 new"] as const;
export type ClientName = (typeof CLIENTS)[number];

const IDENTITY = { name: "ctxd-test", version: "1.0.0" };

interface Program {
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string;
}

/** Connects over HTTP. */
export function connectHttp(name: ClientName, origin: string, headers: Record<string, string>) {
  const url = new URL("/mcp", origin);
  const options = { requestInit: { headers } };
  return name === "v1"
    ? connect(name, () => new OldHttpTransport(url, options))
    : connect(name, () => new StreamableHTTPClientTransport(url, options));
}

/** Connects to a program that speaks on its standard input and output. */
export function connectProgram(name: ClientName, program: Program) {
  const quiet = { ...program, stderr: "ignore" as const };
  return name === "v1"
    ? connect(name, () => new OldStdioTransport(quiet))
    : connect(name, () => new StdioClientTransport(quiet));
}

type AnyTransport =
  | OldHttpTransport
  | OldStdioTransport
  | StdioClientTransport
  | StreamableHTTPClientTransport;

async function connect(name: ClientName, makeTransport: () => AnyTransport) {
  const transport = makeTransport();
  const client =
    name === "v1"
      ? new OldClient(IDENTITY)
      : new ModernClient(IDENTITY, {
          versionNegotiation: { mode: name === "v2 old" ? "legacy" : { pin: "2026-07-28" } },
        });
  // The two SDKs name the same things by types of their own.
  await client.connect(transport as never);

  return {
    instructions: () => client.getInstructions() ?? "",
    pid: () => ("pid" in transport ? transport.pid : null),

    tools: async () => (await client.listTools()).tools,

    async call(tool: string, args: Record<string, unknown> = {}): Promise<Result> {
      const answer = await client.callTool({ name: tool, arguments: args });
      const { content, structuredContent, isError } = answer as {
        content: { text: string }[];
        structuredContent?: Record<string, unknown>;
        isError?: boolean;
      };
      return {
        text: content.map(({ text }) => text).join(""),
        data: structuredContent ?? {},
        isError: isError ?? false,
      };
    },

    resources: async () => (await client.listResources()).resources,
    read: async (uri: string) => (await client.readResource({ uri })).contents,
    prompts: async () => (await client.listPrompts()).prompts,
    prompt: async (prompt: string, args: Record<string, string>) =>
      (await client.getPrompt({ name: prompt, arguments: args })).messages,

    close: () => client.close(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
