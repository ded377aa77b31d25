import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Scope } from "../../src/keys/scopes.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { type Answer, createClient } from "../support/client.ts";
import { expectError } from "../support/errors.ts";
import { AS_CONNECTOR, connectHttp } from "../support/mcp.ts";

/** The canary in all texts that another credential of the account has saved. */
const CANARY = "canary7431";
const SECRET = {
  content: `${CANARY} is the secret of the house`,
  tags: [CANARY],
  agent_id: CANARY,
  session_id: CANARY,
  metadata: { note: CANARY },
};
const NDJSON = { "content-type": "application/x-ndjson" };
const RECEIPT = ["created_at", "id", "updated_at"];

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

/** Credentials that may not read, each of an account with a secret. */
const CREDENTIALS: readonly (readonly [
  name: string,
  scopes: readonly Scope[],
  isToken: boolean,
])[] = [
  ["a key that writes", ["memories:write"], false],
  ["a key that saves", ["memories:add"], false],
  ["a token that writes", ["memories:write"], true],
  ["a token that saves", ["memories:add"], true],
];

async function setUp(scopes: readonly Scope[], isToken: boolean) {
  const owner = await server.account();
  const secret = await owner.save(SECRET, { "idempotency-key": "nightly" });
  if (!isToken) {
    const { key } = await server.client(owner.accountId, scopes);
    return { owner, secret, credential: key };
  }
  const { accountId, tokens } = await server.connect({ scope: scopes.join(" ") });
  const person = { accountId, ...(await server.client(accountId)) };
  const own = await person.save(SECRET, { "idempotency-key": "nightly" });
  return { owner: person, secret: own, credential: tokens.access_token };
}

test.each(CREDENTIALS)("%s reads nothing that others saved", async (_, scopes, isToken) => {
  const { owner, secret, credential } = await setUp(scopes, isToken);
  const { send } = createClient(server.origin, credential);
  const path = `/memories/${secret.id}`;
  const mayChange = scopes.includes("memories:write");
  const { content: _content, ...rest } = SECRET;
  const again = { json: SECRET, headers: { "idempotency-key": "nightly" } };
  const own = { content: "my own" };
  /** The request of each operation, and whether it is allowed. */
  const requests: Record<string, (readonly [string, string, object, boolean])[]> = {
    createMemory: [
      ["POST", "/memories", { json: own }, true],
      ["POST", "/memories", { json: { ...own, ...rest } }, true],
      ["POST", "/memories?similar=true", { json: SECRET }, false],
      ["POST", "/memories", again, true],
    ],
    createMemories: [["POST", "/memories/batch", { json: { memories: [own, SECRET] } }, true]],
    updateMemory: [
      ["PUT", path, { json: { importance: 0.6 } }, mayChange],
      ["PUT", path, { json: { importance: 0.6 }, headers: { "if-match": '"x"' } }, false],
    ],
    importMemories: [
      ["POST", "/memories/import", { body: JSON.stringify(secret), headers: NDJSON }, mayChange],
      ["POST", "/memories/import?dry_run=true", { body: "{}", headers: NDJSON }, false],
    ],
    captureTurns: [
      [
        "POST",
        "/memories/capture",
        { json: { agent: "planner", turns: [{ role: "user", content: SECRET.content }] } },
        true,
      ],
    ],
    recallContext: [["POST", "/memories/recall", { json: { prompt: SECRET.content } }, false]],
    getMemory: [["GET", path, {}, false]],
    getMemoryHistory: [["GET", `${path}/history`, {}, false]],
    moveMemories: [["POST", "/memories/move?tags=none", { json: { project: "atlas" } }, mayChange]],
    listMemories: [["GET", "/memories", {}, false]],
    findMemoriesAbout: [["GET", "/memories/about?q=secret", {}, false]],
    forgetMemories: [
      ["POST", "/memories/forget", { json: { ids: [`mem_${"0".repeat(32)}`] } }, false],
    ],
    getTidyReport: [["GET", "/memories/tidy", {}, false]],
    applyTidyProposals: [["POST", "/memories/tidy", { json: { groups: [{ id: "x" }] } }, false]],
    undoTidying: [["DELETE", "/memories/tidy?undo=wait_1", {}, false]],
    searchMemories: [["GET", "/memories/search?q=secret", {}, false]],
    exportMemories: [["GET", "/memories/export", {}, false]],
    getStats: [["GET", "/stats", {}, false]],
    getHealth: [["GET", "/health", {}, true]],
    getLife: [["GET", "/health/live", {}, true]],
    deleteMemories: [["DELETE", "/memories?tags=none", {}, mayChange]],
    deleteMemory: [["DELETE", `/memories/mem_${"0".repeat(32)}`, {}, false]],
    listSpaces: [["GET", "/spaces", {}, false]],
    createSpace: [["POST", "/spaces", { json: { name: "acme" } }, false]],
    joinSpace: [["POST", "/spaces/join", { json: { secret: "x" } }, false]],
    getSpace: [["GET", "/spaces/acme", {}, false]],
    changeSpace: [["PUT", "/spaces/acme", { json: { name: "mine" } }, false]],
    deleteSpace: [["DELETE", "/spaces/acme", {}, false]],
    inviteIntoSpace: [["POST", "/spaces/acme/invitations", { json: { role: "read" } }, false]],
    revokeSpaceInvitation: [["DELETE", "/spaces/acme/invitations/inv_1", {}, false]],
    changeSpaceRole: [["PUT", "/spaces/acme/members/acc_1", { json: { role: "read" } }, false]],
    removeFromSpace: [["DELETE", "/spaces/acme/members/acc_1", {}, false]],
  };
  expect(Object.keys(requests).sort()).toEqual(await operations());

  for (const [method, target, sending, isDone] of Object.values(requests).flat()) {
    const answer = await send(method, target, sending);
    expect(shown(answer)).not.toContain(CANARY);
    expect([method, target, answer.status < 400]).toEqual([method, target, isDone]);
    if (!isDone && method !== "DELETE" && answer.status !== 412) {
      expectError(answer, { status: 403, code: "forbidden" });
      expect(shown(answer)).toMatch(/lacks the scope memories:(read|write)/);
    }
    if (isDone && method === "PUT") expect(answer.headers.get("etag")).toMatch(/^".+"$/);
    for (const memory of writtenIn(answer)) expect(Object.keys(memory).sort()).toEqual(RECEIPT);
  }
  expect((await owner.get(secret.id)).content).toBe(SECRET.content);
});

test.each(CREDENTIALS)("%s reads nothing through MCP", async (_, scopes, isToken) => {
  const { owner, secret, credential } = await setUp(scopes, isToken);
  for (const generation of ["v1", "v2 new"] as const) {
    const headers = { authorization: `Bearer ${credential}`, ...AS_CONNECTOR };
    await using client = await connectHttp(generation, server.origin, headers);
    const tools = (await client.tools()).map(({ name }) => name).sort();
    const offered = scopes.includes("memories:write")
      ? ["delete_memory", "save_memory", "update_memory"]
      : ["save_memory"];
    expect(tools).toEqual(offered);
    const calls: [string, Record<string, unknown>][] = [
      ["save_memory", SECRET],
      ["update_memory", { id: secret.id, importance: 0.7 }],
      ["recall_context", { task: "secret" }],
      ["search_memories", { query: "secret" }],
      ["list_memories", {}],
      ["get_memory", { id: secret.id }],
      ["search", { query: "secret" }],
      ["fetch", { id: secret.id }],
    ];
    for (const [tool, args] of calls) {
      const answer = await client.call(tool, args).catch(String);
      expect(JSON.stringify(answer)).not.toContain(CANARY);
    }
    const tasks = ["memory://distill", "memory://tidy"];
    for (const uri of ["memory://recent", `memory://${secret.id}`, ...tasks]) {
      expect(await client.read(uri).catch(() => null)).toBeNull();
    }
    expect(await client.prompt("load_context", { task: "secret" }).catch(() => null)).toBeNull();
    for (const prompt of ["distill", "tidy"]) {
      expect(await client.prompt(prompt, {}).catch(() => null)).toBeNull();
    }
    expect(await client.resources().catch(() => [])).toEqual([]);
  }
  expect((await owner.get(secret.id)).content).toBe(SECRET.content);
});

test("a key that may only save can't change or delete memories", async () => {
  const { owner, secret, credential } = await setUp(["memories:add"], false);
  const adder = createClient(server.origin, credential);
  const changed = { ...secret, content: "changed", updated_at: "2099-01-01T00:00:00Z" };
  const attempts = [
    ["PUT", `/memories/${secret.id}`, { json: { content: "changed" } }],
    ["DELETE", `/memories/${secret.id}`, {}],
    ["DELETE", `/memories?tags=${CANARY}`, {}],
    ["POST", "/memories/import", { body: JSON.stringify(changed), headers: NDJSON }],
  ] as const;
  for (const [method, path, sending] of attempts) {
    const answer = await adder.send(method, path, sending);
    expectError(answer, { status: 403, code: "forbidden" });
  }
  // A field that would overwrite.
  const answer = await adder.send("POST", "/memories", { json: { id: secret.id, content: "x" } });
  expect(answer.status).toBe(422);
  expect(await owner.get(secret.id)).toEqual(secret);
});

test("an import does not confirm a guessed memory", async () => {
  const { secret, credential } = await setUp(["memories:write"], false);
  const { send } = createClient(server.origin, credential);
  const old = { ...secret, updated_at: secret.created_at };
  for (const guess of [old, { ...old, content: "a wrong guess" }]) {
    const sending = { body: JSON.stringify(guess), headers: NDJSON };
    const { body } = await send("POST", "/memories/import", sending);
    expect(body).toMatchObject({ created: 0, updated: 0, unchanged: 0, kept: 1, invalid: 0 });
  }
});

test("the ETag of a memory does not confirm its guessed content", async () => {
  const { owner, secret, credential } = await setUp(["memories:write"], false);
  const { send } = createClient(server.origin, credential);
  const answer = await send("PUT", `/memories/${secret.id}`, { json: { importance: 0.6 } });
  const told = answer.headers.get("etag");
  const guess = JSON.stringify(await owner.get(secret.id));
  const read = await owner.send("GET", `/memories/${secret.id}`);
  expect(read.headers.get("etag")).toBe(told);
  expect(told).not.toBe(`"${Bun.hash.xxHash64(guess).toString(36)}"`);
  expect(told).not.toContain(
    new Bun.CryptoHasher("sha256").update(guess).digest("base64url").slice(0, 22),
  );
});

test("a key of the owner that may not read does not see how the server is used", async () => {
  await using server = await startOAuthServer();
  const owner = await server.account();
  for (const scopes of [["memories:write"], ["memories:add"]] as const) {
    const { key } = await server.client(owner.accountId, scopes);
    const response = await fetch(`${server.origin}/api/metrics`, {
      headers: { authorization: `Bearer ${key}`, "x-forwarded-for": "192.0.2.1" },
    });
    expect(response.status).toBe(403);
  }
});

/** The published operations on memories. */
async function operations(): Promise<string[]> {
  const document = await (await fetch(`${server.origin}/docs/json`)).text();
  const names = [...document.matchAll(/"operationId":"(\w+)"/g)].map(([, name = ""]) => name);
  return names.filter((name) => name !== "getMetrics").sort();
}

/** All that an answer tells. */
function shown({ status, headers, body }: Answer): string {
  return JSON.stringify([status, [...headers], body]);
}

/** The memories in an answer to a write. */
function writtenIn({ status, body }: Answer): object[] {
  if (status >= 400 || typeof body !== "object" || body === null) return [];
  if ("memories" in body && Array.isArray(body.memories)) return body.memories;
  return "id" in body && !("deleted" in body) ? [body] : [];
}
