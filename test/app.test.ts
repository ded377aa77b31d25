import { afterAll, expect, test } from "bun:test";
import { AppError } from "../src/errors.ts";
import { SECURITY_HEADERS } from "../src/http/security-headers.ts";
import { expectError } from "./support/errors.ts";
import { fakeEmbedder } from "./support/fake-embedder.ts";
import { startServer } from "./support/server.ts";

const server = await startServer();
afterAll(server.close);
const ada = await server.account();
const { id } = await ada.save({ content: "x" });

/** One request for each kind of answer. */
const REQUESTS = [
  ["GET", "/health", 200],
  ["GET", "/memories", 200],
  ["GET", `/memories/${id}`, 200],
  ["GET", "/memories/search?q=x", 200],
  ["DELETE", "/memories?tags=none", 200],
  ["POST", "/memories", 201],
  ["GET", "/memories?agent_id=%ff", 400],
  ["GET", "/nothing", 404],
  ["GET", "/memories/nothing", 404],
  ["PATCH", "/memories", 405],
  ["PUT", `/memories/${id}`, 422],
  ["GET", "/memories/search", 422],
] as const;

test.each(REQUESTS)(
  "the answer to %s %s (%d) is JSON and has the security headers",
  async (method, path, status) => {
    const sending =
      method === "POST" || method === "PUT"
        ? { json: method === "POST" ? { content: "y" } : {} }
        : {};
    const answer = await ada.send(method, path, sending);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(Object.fromEntries(answer.headers)).toMatchObject(SECURITY_HEADERS);
  },
);

test.each(["/join/%", "/join/%E0%A4", "/memories/%zz", "/api/memories/%", "/%"])(
  "a path with a %% that begins no character is not found: %s",
  async (path) => {
    const response = await fetch(server.origin + path, { redirect: "manual" });
    expect(response.status).toBe(404);
    expect(Object.fromEntries(response.headers)).toMatchObject(SECURITY_HEADERS);
  },
);

test("a refusal for the sake of HTTPS or of the key has the security headers too", async () => {
  for (const [headers, status] of [
    [{ host: "example.com" }, 403],
    [{}, 401],
  ] as const) {
    const response = await fetch(`${server.origin}/api/memories`, { headers });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(Object.fromEntries(response.headers)).toMatchObject(SECURITY_HEADERS);
  }
});

test.each([
  "/health",
  "/memories",
  `/memories/${id}`,
  "/memories/search?q=x",
  "/memories/search",
  "/memories/nothing",
  "/nothing",
])("HEAD %s is answered as GET is, without a body", async (path) => {
  const [head, get] = [await ada.send("HEAD", path), await ada.send("GET", path)];
  expect(head.status).toBe(get.status);
  expect(head.body).toBe("");
  for (const name of ["content-type", "content-length", "etag"]) {
    expect(head.headers.get(name)).toBe(get.headers.get(name));
  }
});

test.each([
  ["/api/memories", "DELETE, GET, HEAD, POST"],
  [`/api/memories/${id}`, "DELETE, GET, HEAD, PUT"],
  ["/api/health", "GET, HEAD"],
  ["/docs", "GET, HEAD"],
])("another method on %s is told which there are", async (path, allowed) => {
  const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];
  for (const method of methods.filter((name) => !allowed.includes(name))) {
    const response = await fetch(server.origin + path, {
      method,
      headers: { authorization: `Bearer ${ada.key}` },
    });
    expectError(
      { status: response.status, body: await response.json() },
      { status: 405, code: "method_not_allowed" },
    );
    expect(response.headers.get("allow")).toBe(allowed);
  }
});

test.each([
  "/api",
  "/api/memory",
  "/api//memories",
  "/api/memories//",
  "/api/Memories",
  `/api/memories/${id}/tags`,
  "/api/memories/search/more",
  "/docs/../../etc/passwd",
  "/docs/%2e%2e/package.json",
  "/robots.txt",
])("there is nothing at %s", async (path) => {
  const response = await fetch(server.origin + path, {
    headers: { authorization: `Bearer ${ada.key}` },
  });
  expectError(
    { status: response.status, body: await response.json() },
    { status: 404, code: "not_found" },
  );
});

test("a slash at the end changes nothing", async () => {
  expect((await ada.send("GET", "/memories/")).body).toEqual(
    (await ada.send("GET", "/memories")).body,
  );
});

test("no error repeats what was sent", async () => {
  const marker = "zqxj7marker";
  const typed = { "content-type": "application/json" };
  const bodies = [
    { json: { [marker]: marker, content: marker } },
    { json: { content: { [marker]: marker } } },
    { json: { content: "x", tags: [{ [marker]: 1 }, `${marker},`] } },
    { json: { content: "x", metadata: { [marker]: "x".repeat(5_000) } } },
    { json: { content: "x", agent_id: marker.repeat(100), importance: marker } },
    { json: { memories: [{ [marker]: marker }, marker], [marker]: 1 } },
    { body: `{"${marker}`, headers: typed },
    { body: `${marker}`, headers: { "content-type": marker } },
    { json: { content: "x" }, headers: { "idempotency-key": marker.repeat(30) } },
    { json: { content: "x" }, headers: { "if-match": marker } },
    { json: { content: "x" }, headers: { authorization: `Bearer ${marker}` } },
    { json: { content: "x" }, headers: { authorization: marker } },
    { json: { content: "x" }, headers: { host: `${marker}.example.com` } },
  ];
  const queries = ["q", "limit", "tags", "mode", "min_score", "cursor", "created_after", marker]
    .flatMap((name) => [`${name}=${marker},${"x".repeat(2_001)}`, `${name}=%ff${marker}`])
    .concat(`${marker}=1&${marker}=2`);
  const answers = await Promise.all([
    ...bodies.flatMap((sending) =>
      [
        ["POST", "/memories"],
        ["POST", "/memories/batch"],
        ["PUT", `/memories/${id}`],
      ].map(([method = "", path = ""]) => ada.send(method, path, sending)),
    ),
    ...queries.flatMap((query) =>
      ["/memories", "/memories/search", `/${marker}`, `/memories/${marker}/${marker}`].map((path) =>
        ada.send("GET", `${path}?${query}`),
      ),
    ),
    ...queries.map((query) => ada.send("DELETE", `/memories?${query}`)),
    ...[marker, `mem_${marker}`, `%ff${marker}`].map((each) =>
      ada.send("GET", `/memories/${each}`),
    ),
    ada.send(marker.toUpperCase().replace("7", "S"), "/memories").catch(() => null),
  ]);
  const refused = answers.filter((answer) => answer && answer.status >= 400);
  expect(refused.length).toBeGreaterThan(90);
  for (const answer of refused) {
    const told = JSON.stringify([answer?.body, Object.fromEntries(answer?.headers ?? [])]);
    expect(told.toLowerCase()).not.toContain(marker);
  }
});

test("without an embedder what needs it is unavailable, and the rest works", async () => {
  const down = () =>
    Promise.reject(new AppError("unavailable", "The engine is starting.", { retryAfter: 1 }));
  const embedder = { ...fakeEmbedder(), embedQuery: down, embedContent: down };
  await using broken = await startServer({ embedder });
  const client = await broken.account();
  const unavailable = { status: 503, code: "unavailable" } as const;
  for (const answer of [
    await client.send("POST", "/memories", { json: { content: "x" } }),
    await client.send("POST", "/memories/batch", { json: { memories: [{ content: "x" }] } }),
    await client.send("GET", "/memories/search?q=x"),
    await client.send("GET", "/memories/search?q=x&mode=semantic"),
  ]) {
    expectError(answer, unavailable);
    expect(answer.headers.get("retry-after")).toBe("1");
  }
  expect(await client.search("x", { mode: "keyword" })).toEqual([]);
  expect((await client.list()).memories).toEqual([]);
});

test("an unexpected error has a code, and only the log has its cause", async () => {
  const logged: unknown[] = [];
  const note = (event: string, fields: unknown) => logged.push([event, fields]);
  const embedder = {
    ...fakeEmbedder(),
    embedQuery: () => Promise.reject(new TypeError("secret detail")),
  };
  const log = { debug: note, info: note, warn: note, error: note };
  await using broken = await startServer({ embedder, log });
  const client = await broken.account();
  const { status, body } = await client.send("GET", "/memories/search?q=private+words");
  const told = JSON.stringify(body);
  const [, id = "no id"] = /"id":"([0-9a-f-]{36})"/.exec(told) ?? [];
  expect(status).toBe(500);
  expect(told).toContain('"code":"internal"');
  expect(told).not.toContain("secret");
  const noted = JSON.stringify(logged);
  expect(noted).toContain("secret detail");
  expect(noted).toContain(id);
  expect(noted).not.toContain("private words");
});

test("health names what has failed, without a key", async () => {
  const checks = {
    database: () => "ok" as const,
    memories: () => Promise.reject(new Error("secret")),
    embedding: () => "loading" as const,
  };
  await using broken = await startServer({ checks });
  const response = await fetch(`${broken.origin}/api/health`);
  expect(response.status).toBe(503);
  expect<unknown>(await response.json()).toEqual({
    status: "failed",
    version: expect.any(String),
    checks: { database: "ok", memories: "failed", embedding: "loading" },
  });
});

test("the API page asks no other host", async () => {
  const address = `${server.origin}/docs`;
  const page = await (await fetch(address)).text();
  expect(page).not.toMatch(/https?:\/\//);
  const assets = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)]
    .map(([, asset = ""]) => new URL(asset, address))
    .filter(({ protocol }) => protocol !== "data:");
  expect(assets.length).toBeGreaterThan(1);
  for (const asset of assets) {
    expect(asset.origin).toBe(server.origin);
    expect((await fetch(asset)).status).toBe(200);
  }
});
