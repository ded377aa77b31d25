import { afterAll, expect } from "bun:test";
import { SCOPES, type Scope } from "../../../src/keys/scopes.ts";
import {
  type ClientName,
  connectHttp,
  type McpClient,
  type Result,
  shownIn,
} from "../../support/mcp.ts";
import { startServer } from "../../support/server.ts";

/** A server, and MCP clients of it, for the tests of a file. */
export async function startToolServer(options: Parameters<typeof startServer>[0] = {}) {
  const server = await startServer(options);
  const open: McpClient[] = [];
  afterAll(async () => {
    await Promise.all(open.map((client) => client.close()));
    await server.close();
  });

  return {
    server,

    /** A client of a new or an existing account. */
    async connect(
      name: ClientName = "v2 new",
      {
        scopes = SCOPES,
        accountId,
        headers = {},
      }: { scopes?: readonly Scope[]; accountId?: string; headers?: Record<string, string> } = {},
    ) {
      const http = accountId
        ? await server.client(accountId, scopes)
        : await server.account(scopes);
      const client = await connectHttp(name, server.origin, {
        authorization: `Bearer ${http.key}`,
        ...headers,
      });
      open.push(client);
      return client;
    },
  };
}

/** Saves a memory with a tool. Returns its id. */
export async function save(client: McpClient, content: string, more: Record<string, unknown> = {}) {
  const { data, isError, text } = await client.call("save_memory", { content, ...more });
  expect({ text, isError }).toMatchObject({ isError: false });
  return String(data.id);
}

export function contentsOf(result: Result): string[] {
  return shownIn(result).map(({ content }) => content);
}
