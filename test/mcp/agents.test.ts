import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Fetched } from "../../src/oauth/clients/document-fetcher.ts";
import {
  answerOf,
  type OAuthServer,
  startOAuthServer,
  tokensOf,
} from "../oauth/support/oauth-server.ts";
import { REGISTRATIONS } from "../oauth/support/registrations.ts";
import { envelope, initialize, NEW, OLD } from "./support/agent-messages.ts";

// One sequence of requests per client, in the order and with the quirks that users have reported.

const CLAUDE_ID = "https://claude.ai/oauth/claude-code-client-metadata";
const documents: Record<string, object> = {
  [CLAUDE_ID]: {
    client_id: CLAUDE_ID,
    client_name: "Claude Code",
    redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  },
};

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer({
    fetchDocument: async ({ href }): Promise<Fetched> => ({ json: documents[href], maxAge: 60 }),
  });
});
afterAll(() => server.close());

type Headers = Record<string, string>;
/** Number of tools of a client that is no connector. */
const TOOLS = 7;
const BOTH = { accept: "application/json, text/event-stream" };

async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(server.origin + path, { redirect: "error", ...init });
  expect(response.headers.get("content-type")).toStartWith("application/json");
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body };
}

/** Sends a message as a client does, and reads the answer in either of its forms. */
async function say(token: string | null, message: object, headers: Headers = BOTH) {
  const response = await fetch(`${server.origin}/mcp`, {
    method: "POST",
    redirect: "error",
    headers: {
      "content-type": "application/json",
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  });
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return {
    status: response.status,
    headers: response.headers,
    body: (data === "" ? null : JSON.parse(data)) as {
      result?: { protocolVersion?: string; tools?: Tool[]; structuredContent?: object } & Record<
        string,
        unknown
      >;
      error?: { code: number };
    } | null,
  };
}
interface Tool {
  name: string;
  annotations: { readOnlyHint: boolean };
}

/** A person who is signed in allows what a client asks for; the client gets its tokens. */
async function allow(
  clientId: string,
  {
    redirect_uri,
    path = "/api/oauth",
    client_secret = null,
    ...more
  }: Record<string, string | null> & { redirect_uri: string },
) {
  const { person } = await server.signedIn();
  const page = await person.visit(
    server.authorizeUrl(clientId, { redirect_uri, ...more }).replace("/api/oauth", path ?? ""),
  );
  const { code = null, iss } = answerOf(await person.submit(page, { decision: "allow" }));
  expect(iss).toBe(server.origin);
  const answer = await server.post(`${path}/token`, {
    grant_type: "authorization_code",
    client_id: clientId,
    client_secret,
    code,
    code_verifier: "v".repeat(43),
    redirect_uri,
    ...(more.resource !== undefined && { resource: more.resource }),
  });
  return tokensOf(answer);
}

const register = async (metadata: object, path = "/api/oauth") => {
  const { status, body } = await ask(`${path}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(metadata),
  });
  expect(status).toBe(201);
  return body as {
    client_id: string;
    client_secret?: string;
    token_endpoint_auth_method: string;
    redirect_uris: string[];
  };
};

describe("Claude, where it runs by itself (claude.ai, desktop, mobile)", () => {
  const httpx: Headers = { "user-agent": "python-httpx/0.28.1", ...BOTH };

  test("connects by guessed paths, with headers that contradict its messages", async () => {
    const refused = await say(
      null,
      { method: "server/discover", params: envelope("claude-ai") },
      httpx,
    );
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toContain("resource_metadata=");
    // Half of what it looks for is not there, in JSON.
    expect((await ask("/.well-known/openid-configuration")).status).toBe(404);
    expect((await ask("/mcp/.well-known/openid-configuration")).status).toBe(404);
    const { body: metadata } = await ask("/.well-known/oauth-authorization-server");

    const [redirect_uri] = REGISTRATIONS.Claude.redirect_uris;
    const client = await register(REGISTRATIONS.Claude, "");
    expect(client.token_endpoint_auth_method).toBe("client_secret_post");
    const { access_token: token, refresh_token } = await allow(client.client_id, {
      redirect_uri,
      path: "",
      client_secret: client.client_secret ?? null,
      scope: [metadata.scopes_supported].flat().join(" "),
      // The address as the person has typed it.
      resource: `${server.origin}/mcp/`,
    });

    const discover = { method: "server/discover", params: envelope("claude-ai") };
    const right = { ...httpx, "mcp-protocol-version": NEW, "mcp-method": "server/discover" };
    expect((await say(token, discover, right)).status).toBe(200);
    // claude-code#93290, claude-ai-mcp#70: the header of an older version, or none.
    const list = { method: "tools/list", params: envelope("claude-ai") };
    for (const headers of [{ "mcp-protocol-version": OLD }, {}, { "mcp-protocol-version": NEW }]) {
      const answer = await say(token, list, { ...httpx, ...headers });
      expect(answer).toMatchObject({ status: 200, body: { result: { tools: { length: TOOLS } } } });
    }
    // After `initialize` has agreed on the older version, the header of the new one.
    expect((await say(token, initialize, httpx)).body?.result?.protocolVersion).toBe(OLD);
    const later = { ...httpx, "mcp-protocol-version": NEW };
    const listed = await say(token, { method: "tools/list" }, later);
    expect(listed).toMatchObject({ status: 200, body: { result: { tools: { length: TOOLS } } } });
    const initialized = { id: undefined, method: "notifications/initialized" };
    expect((await say(token, initialized, later)).status).toBe(202);
    // A stream that there is none of is refused in a way that it takes for that.
    const stream = await fetch(`${server.origin}/mcp`, {
      headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
    });
    expect(stream.status).toBe(405);

    const renewed = await server.post("/token", {
      grant_type: "refresh_token",
      client_id: client.client_id,
      client_secret: client.client_secret ?? null,
      refresh_token,
    });
    expect(renewed.status).toBe(200);
    // What tells it that it has been forgotten.
    const unknown = await server.post("/token", {
      grant_type: "refresh_token",
      client_id: "gone",
      refresh_token,
    });
    expect(unknown).toMatchObject({ status: 401, body: { error: "invalid_client" } });
  });
});

describe("Claude Code", () => {
  const agent = { "user-agent": "claude-code/2.1.260 (cli)", ...BOTH };

  test("connects with its metadata document, from any port", async () => {
    const redirect_uri = "http://localhost:53187/callback";
    const { access_token } = await allow(CLAUDE_ID, {
      redirect_uri,
      resource: `${server.origin}/mcp`,
    });
    const call = {
      method: "tools/call",
      params: { name: "save_memory", arguments: { content: "Sam" }, ...envelope("claude-code") },
    };
    const headers = { ...agent, "mcp-protocol-version": OLD };
    expect(await say(access_token, call, headers)).toMatchObject({
      status: 200,
      body: { result: { structuredContent: { id: expect.stringMatching(/^mem_/) } } },
    });
    for (const method of ["tools/call\r\nx: y", "tööls", ""]) {
      const { status } = await say(access_token, { ...call, method }, headers);
      expect({ method, isOurFault: status >= 500 }).toEqual({ method, isOurFault: false });
    }
  });

  test("receives JSON errors for unknown paths", async () => {
    expect((await ask("/.well-known/oauth-authorization-server/other")).status).toBe(404);
    expect((await ask("/register/unknown")).status).toBe(404);
  });
});

describe("ChatGPT", () => {
  test("finds the authorization server at the resource's path, then searches and fetches", async () => {
    const { body: metadata } = await ask("/.well-known/oauth-authorization-server/mcp");
    expect(metadata.token_endpoint_auth_methods_supported).toContain("none");
    const { status, headers } = await say(null, initialize);
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toStartWith("Bearer ");

    const [redirect_uri] = REGISTRATIONS.ChatGPT.redirect_uris;
    const client = await register(REGISTRATIONS.ChatGPT);
    expect(client.client_secret).toBeUndefined();
    const { access_token } = await allow(client.client_id, {
      redirect_uri,
      resource: `${server.origin}/mcp`,
    });
    const agent = { "user-agent": "openai-mcp/1.0.0", "mcp-protocol-version": OLD, ...BOTH };
    const call = (name: string, args: object) =>
      say(access_token, { method: "tools/call", params: { name, arguments: args } }, agent);

    const listed = await say(access_token, { method: "tools/list" }, agent);
    const reading = listed.body?.result?.tools?.filter(
      ({ annotations }) => annotations.readOnlyHint,
    );
    expect(reading?.map(({ name }) => name)).toEqual(expect.arrayContaining(["search", "fetch"]));
    const saved = await call("save_memory", { content: "Sam is allergic to peanuts" });
    const found = await call("search", { query: "peanuts" });
    const [text] = (found.body?.result?.content ?? []) as { type: string; text: string }[];
    const { results } = JSON.parse(text?.text ?? "");
    expect(results).toEqual([
      {
        id: expect.any(String),
        title: "Sam is allergic to peanuts",
        text: "Sam is allergic to peanuts",
        url: expect.stringContaining(server.origin),
      },
    ]);
    const fetched = await call("fetch", { id: results[0].id });
    expect(fetched.body?.result?.structuredContent).toMatchObject({
      ...results[0],
      title: expect.any(String),
    });
    expect(saved.body?.result?.structuredContent).toMatchObject({ id: results[0].id });
  });

  test("is rejected when its headers contradict its message", async () => {
    const { tokens } = await server.connect();
    const list = { method: "tools/list", params: envelope("chatgpt") };
    const headers = { ...BOTH, "user-agent": "openai-mcp/1.0.0", "mcp-protocol-version": OLD };
    const answer = await say(tokens.access_token, list, headers);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: -32_020 } } });
  });
});

test("Cursor registers three redirect URIs, and is answered at that of its program", async () => {
  const { redirect_uris } = REGISTRATIONS.Cursor;
  const [redirect_uri] = redirect_uris;
  const client = await register(REGISTRATIONS.Cursor);
  expect(client.redirect_uris).toEqual([...redirect_uris]);
  const { access_token } = await allow(client.client_id, { redirect_uri, resource: null });
  const answer = await say(access_token, initialize, { ...BOTH, "user-agent": "Cursor/2.3.0" });
  expect(answer.body?.result?.protocolVersion).toBe(OLD);
});

test("VS Code registers an unsupported grant, and connects from another port", async () => {
  const client = await register(REGISTRATIONS["VS Code"]);
  const redirect_uri = "http://127.0.0.1:41022/";
  const resource = `${server.origin}/mcp`;
  const { access_token } = await allow(client.client_id, { redirect_uri, resource });
  const headers = { ...BOTH, "user-agent": "VisualStudioCode/1.110.0" };
  expect((await say(access_token, initialize, headers)).status).toBe(200);
  const session = { ...headers, "mcp-protocol-version": OLD };
  const listed = await say(access_token, { method: "tools/list" }, session);
  expect(listed.body?.result?.tools?.length).toBe(TOOLS);
});

test("a client that accepts any type is answered", async () => {
  const { tokens } = await server.connect();
  for (const accept of ["*/*", "application/json, */*;q=0.1"]) {
    expect((await say(tokens.access_token, initialize, { accept })).status).toBe(200);
  }
});
