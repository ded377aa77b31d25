import { afterAll, beforeAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { openRaw, rawRequest } from "../support/raw-http.ts";
import { until } from "../support/until.ts";

/** More bytes than fit into the buffers between server and client. */
const MEMORIES = 2_000;
const CONTENT = "x".repeat(16_000);
const NDJSON = { "content-type": "application/x-ndjson" };

let server: OAuthServer;
type Account = Awaited<ReturnType<OAuthServer["connect"]>>;
/** The account of the exports: filling it takes seconds. */
let filled: Account;
beforeAll(async () => {
  server = await startOAuthServer();
  filled = await server.connect({});
  const lines = Array.from({ length: MEMORIES }, (_, n) =>
    JSON.stringify({ content: `${n} ${CONTENT}` }),
  );
  const owner = await server.client(filled.accountId);
  await owner.send("POST", "/memories/import", { body: lines.join("\n"), headers: NDJSON });
}, 120_000);
afterAll(() => server.close());

/** What is revoked or paused. The account comes last: nobody can use it afterwards. */
const WAYS = ["key by a pause", "key", "token by a pause", "token", "session", "account"] as const;

/** An account's credential, and the function that revokes it. */
async function enter(way: (typeof WAYS)[number], account: Account | null = null) {
  const { accountId, tokens } = account ?? (await server.connect({}));
  const { key, record } = await server.keys.create(accountId, {
    name: "stolen",
    scopes: ["memories:read", "memories:write"],
    expiresAt: null,
  });
  const session = await server.sessions.begin(accountId);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const headers = {
    key: bearer(key),
    "key by a pause": bearer(key),
    "token by a pause": bearer(tokens.access_token),
    token: bearer(tokens.access_token),
    session: { cookie: `ctxd-session=${session}`, origin: server.origin },
    account: bearer(key),
  }[way];
  const eachGrant = async (change: (id: string) => Promise<unknown>) => {
    for (const { id } of await server.oauth.grants.list(accountId)) await change(id);
  };
  // Another way may have paused it.
  await eachGrant((id) => server.oauth.grants.pause(accountId, id, false));
  const takeBack = {
    key: () => server.keys.revoke(accountId, record.id),
    "key by a pause": () => server.keys.pause(accountId, record.id, true),
    "token by a pause": () => eachGrant((id) => server.oauth.grants.pause(accountId, id, true)),
    token: () => eachGrant((id) => server.oauth.grants.revoke(accountId, id)),
    session: () => server.sessions.end(session),
    account: () => server.accounts.remove(accountId),
  }[way];
  return { accountId, headers, takeBack, owner: await server.client(accountId) };
}

const linesIn = (text: string) =>
  text.split("\n").filter((line) => line.startsWith('{"id"')).length;

test.each(WAYS)("an open export ends when it loses its %s", async (way) => {
  const { headers, takeBack } = await enter(way, filled);
  const reader = openRaw(server.port, rawRequest("GET /api/memories/export", headers));
  await reader.begun;
  reader.socket.pause();
  await takeBack();
  reader.socket.resume();
  await reader.closed;
  expect(reader.received()).toStartWith("HTTP/1.1 200");
  expect(linesIn(reader.received())).toBeLessThan(MEMORIES / 2);
  // The end of the chunked body is missing, so no client takes it for complete.
  expect(reader.received()).not.toEndWith("0\r\n\r\n");
});

test.each(WAYS)("an open import writes nothing more after it has lost its %s", async (way) => {
  const { accountId, headers, takeBack, owner } = await enter(way);
  const chunk = (from: number) => {
    const lines = Array.from({ length: 256 }, (_, n) => JSON.stringify({ content: `${from + n}` }));
    const text = `${lines.join("\n")}\n`;
    return `${text.length.toString(16)}\r\n${text}\r\n`;
  };
  const chunked = { ...headers, ...NDJSON, "transfer-encoding": "chunked" };
  const writer = openRaw(server.port, rawRequest("POST /api/memories/import", chunked));
  writer.socket.write(chunk(0));
  const count = async () => (await owner.list({ limit: 1 })).memories.length;
  await until("the first memories are written", async () => (await count()) > 0);
  await takeBack();
  writer.socket.write(chunk(1_000));
  writer.socket.write("0\r\n\r\n");
  await writer.closed;
  const status = way.endsWith("by a pause") ? 403 : 401;
  expect(writer.received()).toStartWith(`HTTP/1.1 ${status}`);
  const written = await server.memories.list(wholeAccount(accountId), { filter: {}, limit: 100 });
  expect(written.memories.some(({ content }) => Number(content) >= 1_000)).toBe(false);
});

test("a late body is not written if its key was revoked meanwhile", async () => {
  const body = JSON.stringify({ memories: [{ content: "late" }] });
  for (const [path, text] of [
    ["/api/memories/batch", body],
    ["/api/memories", '{"content":"late"}'],
    [
      "/mcp",
      JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "save_memory", arguments: { content: "late" } },
      }),
    ],
  ] as const) {
    const { headers, takeBack, owner } = await enter("key");
    const sending = {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": String(text.length),
    };
    const writer = openRaw(server.port, rawRequest(`POST ${path}`, sending, text.slice(0, 5)));
    // The answer to the next request shows that the head has been read.
    await owner.list();
    await takeBack();
    writer.socket.write(text.slice(5));
    await writer.closed;
    expect(writer.received()).toStartWith("HTTP/1.1 401");
    expect((await owner.list()).memories).toEqual([]);
  }
});
