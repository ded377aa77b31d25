import { afterAll, expect, test } from "bun:test";
import { generateKey } from "../../src/keys/new-key.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import { createClient } from "../support/client.ts";
import { expectError } from "../support/errors.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);
const ada = await server.account();
const memory = await ada.save({ content: "x" });

const READING = [
  ["GET", "/memories"],
  ["GET", "/memories/search?q=x"],
  ["GET", `/memories/${memory.id}`],
] as const;
const WRITING = [
  ["POST", "/memories"],
  ["POST", "/memories/batch"],
  ["PUT", `/memories/${memory.id}`],
  ["DELETE", `/memories/${memory.id}`],
  ["DELETE", "/memories?tags=x"],
] as const;
const ALL = [...READING, ...WRITING];

async function expectUnauthorized(authorization: string | null) {
  for (const [method, path] of ALL) {
    const response = await fetch(`${server.origin}/api${path}`, {
      method,
      headers: authorization === null ? {} : { authorization },
    });
    expectError(
      { status: response.status, body: await response.json() },
      { status: 401, code: "unauthorized" },
    );
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer\b/);
  }
}

test("without a key, the server answers only health checks", async () => {
  await expectUnauthorized(null);
  expect((await fetch(`${server.origin}/api/health`)).status).toBe(200);
});

test.each(
  [
    "Bearer",
    "Bearer ",
    `Basic ${btoa("ada:secret")}`,
    ada.key,
    `Bearer ${ada.key} more`,
    `Bearer ${ada.key},${ada.key}`,
    `Bearer ${ada.key}x`,
    `Bearer ${ada.key.slice(0, -1)}`,
    `Bearer ${ada.key.toLowerCase()}`,
    `Bearer ${generateKey()}`,
    "Bearer ctx_' OR 1=1 --",
    `Bearer ${"x".repeat(10_000)}`,
  ].map((value) => [value.slice(0, 40), value]),
)("a malformed or unknown key is refused: %s", (_, authorization = "") =>
  expectUnauthorized(authorization),
);

test("a key in the query string or a cookie is ignored", async () => {
  for (const query of [`key=${ada.key}`, `access_token=${ada.key}`]) {
    const response = await fetch(`${server.origin}/api/memories?${query}`, {
      headers: { cookie: `key=${ada.key}` },
    });
    expect(response.status).toBe(401);
  }
});

test("the scheme is accepted in upper and lower case", async () => {
  for (const scheme of ["bearer", "BEARER", "Bearer  "]) {
    const response = await fetch(`${server.origin}/api/memories`, {
      headers: { authorization: `${scheme} ${ada.key}` },
    });
    expect(response.status).toBe(200);
  }
});

test("a revoked key is refused by the next request", async () => {
  const { key, record } = await server.keys.create(ada.accountId, {
    name: "lost",
    scopes: SCOPES,
    expiresAt: null,
  });
  await createClient(server.origin, key).get(memory.id);
  await server.keys.revoke(ada.accountId, record.id);
  await expectUnauthorized(`Bearer ${key}`);
});

test("a key is refused from its expiry on", async () => {
  const { key } = await server.keys.create(ada.accountId, {
    name: "short",
    scopes: SCOPES,
    expiresAt: new Date(server.clock() + 1_000),
  });
  server.clock.advance(999);
  await createClient(server.origin, key).get(memory.id);
  server.clock.advance(1);
  await expectUnauthorized(`Bearer ${key}`);
});

test("a key of a removed account is refused by the next request", async () => {
  const bob = await server.account();
  await bob.save({ content: "x" });
  await server.accounts.remove(bob.accountId);
  await expectUnauthorized(`Bearer ${bob.key}`);
});

test.each(WRITING)("a key for reading may not %s %s", async (method, path) => {
  const reader = await server.client(ada.accountId, ["memories:read"]);
  for (const sending of [{}, { json: { content: "changed" } }, { body: "{" }]) {
    const answer = await reader.send(method, path, method === "DELETE" ? {} : sending);
    expectError(answer, { status: 403, code: "forbidden" });
  }
  expect(await ada.get(memory.id)).toEqual(memory);
});

test.each(READING)("a key that may only write may not %s %s", async (method, path) => {
  const writer = await server.client(ada.accountId, ["memories:write"]);
  expectError(await writer.send(method, path), { status: 403, code: "forbidden" });
});

test("a key with the scope to read may read", async () => {
  const reader = await server.client(ada.accountId, ["memories:read"]);
  for (const [method, path] of READING) {
    expect((await reader.send(method, path)).status).toBe(200);
  }
});

test("credentials are checked before the request's content", async () => {
  const nobody = createClient(server.origin, generateKey());
  for (const [method, path, body] of [
    ["GET", "/memories/search", undefined],
    ["GET", "/memories?limit=0&limit=%ff", undefined],
    ["POST", "/memories", "{"],
    ["POST", "/memories", "x".repeat(2 << 20)],
    ["PUT", `/memories/${memory.id}`, "{}"],
    ["DELETE", "/memories", undefined],
  ] as const) {
    const answer = await nobody.send(method, path, body === undefined ? {} : { body });
    expectError(answer, { status: 401, code: "unauthorized" });
  }
});
