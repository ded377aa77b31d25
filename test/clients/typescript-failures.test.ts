import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "../../src/clients/typescript/src/index.ts";
import { rejectionOf } from "../support/outcome.ts";
import { startServer } from "../support/server.ts";
import { until } from "../support/until.ts";

type Fault = (answer: ServerResponse, pass: () => Promise<void>) => unknown;

/** Stands between the client and the server, and does to the next requests what a test says. */
const faults: Fault[] = [];
let requests: string[] = [];
const server = await startServer();
// Where a request is passed on in the process that answers it, Bun 1.4.5 leaves promises that have resolved until the
// next timer: for seconds.
setInterval(() => {}, 5).unref();
const between = createServer(async (request, answer) => {
  requests.push(request.method ?? "");
  const pass: Fault = (_, forward) => forward();
  await (faults.shift() ?? pass)(answer, () => forward(request, answer));
});
await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;

afterAll(async () => {
  between.closeAllConnections();
  between.close();
  await server.close();
});
beforeEach(() => {
  faults.length = 0;
  requests = [];
});

async function forward(request: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { method = "", headers } = request;
  const body = Buffer.concat(await request.toArray());
  const passed = ["authorization", "content-type", "idempotency-key"].flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value] as [string, string]] : [];
  });
  const response = await fetch(`${server.origin}${request.url}`, {
    ...{ method, headers: passed },
    body: method === "GET" ? null : body,
  });
  answer.writeHead(response.status).end(await response.text());
}

const refuse =
  (status: number, code: string, retryAfter?: string): Fault =>
  (answer) => {
    const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
    answer.writeHead(status, headers).end(JSON.stringify({ error: { code, message: "No." } }));
  };
/** The server does what the request asks, and the answer is lost. */
const loseAnswer: Fault = async (answer, pass) => {
  const { socket } = answer;
  answer.writeHead = () => answer;
  answer.end = () => {
    socket?.destroy();
    return answer;
  };
  await pass();
};
const unanswered = () => {};
const busy = refuse(503, "unavailable", "0");
const many = refuse(429, "rate_limited", "0");

async function newClient(options: Partial<Parameters<typeof createClient>[0]> = {}) {
  const { key } = await server.account();
  // Without it, Bun itself sends again what got no answer on a connection that it had before.
  const fetchAnew = (url: string, request: RequestInit) =>
    fetch(url, { ...request, keepalive: false });
  return createClient({ url, key, fetch: fetchAnew, ...options });
}

describe("when something fails, the TypeScript client", () => {
  test("saves once, however often it asks", async () => {
    const client = await newClient();
    faults.push(loseAnswer, busy, many);
    const saved = await client.save({ content: "once" });
    expect(requests).toHaveLength(4);
    faults.push(loseAnswer);
    const second = await client.save({ content: "once more", supersedes: saved.id });
    expect(await client.history(saved.id)).toMatchObject([{ id: second.id }, { id: saved.id }]);
    faults.push(loseAnswer);
    await client.saveAll([{ content: "twins" }, { content: "twins" }]);
    expect((await client.stats()).memories).toBe(4);
    faults.push(busy, refuse(502, "what a proxy says"));
    expect(await client.get(saved.id)).toMatchObject({ content: "once" });
  });

  test("goes on where a list was saved in part, by the same key", async () => {
    const client = await newClient({ retries: 0 });
    const facts = Array.from({ length: 300 }, (_, number) => ({ content: `fact ${number}` }));
    faults.push((_, pass) => pass(), loseAnswer);
    const idempotencyKey = crypto.randomUUID();
    const failed = client.saveAll(facts, { idempotencyKey });
    expect(await rejectionOf(failed)).toMatchObject({ code: "network" });
    expect(await client.saveAll(facts, { idempotencyKey })).toHaveLength(300);
    expect((await client.stats()).memories).toBe(300);
  });

  test("changes and deletes again only what was refused unread", async () => {
    const client = await newClient();
    const { id } = await client.save({ content: "the door is green" });
    faults.push(many);
    await client.update(id, { pinned: true });
    faults.push(many);
    await client.deleteWhere({ agent_id: "nobody" });
    requests = [];
    faults.push(loseAnswer);
    expect(await rejectionOf(client.update(id, { pinned: false }))).toMatchObject({
      code: "network",
    });
    faults.push(busy);
    const failed = client.deleteWhere({ agent_id: "nobody" });
    expect(await rejectionOf(failed)).toMatchObject({ code: "unavailable", retryAfter: 0 });
    faults.push(loseAnswer);
    expect(await rejectionOf(client.delete(id))).toMatchObject({ code: "network", status: 0 });
    expect(requests).toEqual(["PUT", "DELETE", "DELETE"]);
  });

  test("gives up after some tries, and at once where waiting is of no use", async () => {
    const client = await newClient({ retries: 2 });
    faults.push(busy, busy, busy, busy);
    expect(await rejectionOf(client.stats())).toMatchObject({ code: "unavailable", status: 503 });
    expect(requests).toHaveLength(3);
    faults.length = 0;
    faults.push(refuse(429, "rate_limited", "3600"));
    expect(await rejectionOf(client.stats())).toMatchObject({
      code: "rate_limited",
      retryAfter: 3600,
    });
    const date = new Date(Date.now() + 7_200_000).toUTCString();
    faults.push(refuse(503, "unavailable", date));
    const { retryAfter } = await client.stats().catch((error) => error);
    expect(retryAfter).toBeWithin(7_000, 7_201);
    faults.push(refuse(500, "internal"));
    expect(await rejectionOf(client.stats())).toMatchObject({ code: "internal" });
    expect(requests).toHaveLength(6);
  });

  test("an aborted call ends, also while it waits", async () => {
    const client = await newClient({ retries: 1_000 });
    const reason = new Error("enough");
    const controller = new AbortController();
    faults.push(refuse(503, "unavailable", "50"), unanswered);
    const asked = client.stats({ signal: controller.signal });
    await until("the request arrives", () => requests.length > 0);
    controller.abort(reason);
    expect(await rejectionOf(asked)).toBe(reason);
    const second = new AbortController();
    const impatient = await newClient({ retries: 0 });
    const waiting = impatient.stats({ signal: second.signal });
    await until("the second request arrives", () => requests.length > 1);
    second.abort(reason);
    expect(await rejectionOf(waiting)).toBe(reason);
    expect(await rejectionOf(client.stats({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(requests).toHaveLength(2);
  });

  test("waits so long and no longer", async () => {
    const client = await newClient({ timeout: 50, retries: 0 });
    faults.push(unanswered);
    expect(await rejectionOf(client.stats())).toMatchObject({ code: "timeout", status: 0 });
    faults.push((answer) => answer.writeHead(200).write('{"memor'));
    expect(await rejectionOf(client.stats())).toMatchObject({ code: "timeout" });
  });

  test("a server that is not ctxd is named, and the key is sent nowhere else", async () => {
    const client = await newClient();
    faults.push((answer) => answer.writeHead(200).end("<!doctype html>"));
    expect(await rejectionOf(client.stats())).toMatchObject({
      code: "unexpected_answer",
      status: 200,
    });
    faults.push((answer) => answer.writeHead(404).end("<!doctype html>"));
    expect(await rejectionOf(client.stats())).toMatchObject({
      code: "unexpected_answer",
      status: 404,
    });
    faults.push((answer) =>
      answer.writeHead(307, { location: `${server.origin}/api/stats` }).end(),
    );
    expect(await rejectionOf(client.stats())).toMatchObject({ code: "redirected", status: 307 });
    expect(requests).toHaveLength(3);
    expect(() => createClient({ key: "ctx_…" })).toThrow(TypeError);
    expect(() => createClient({ url: "file:///etc", key: "k" })).toThrow(TypeError);
    const closed = createClient({ url: "http://127.0.0.1:1", key: "k", retries: 0 });
    expect(await rejectionOf(closed.stats())).toMatchObject({ code: "network" });
  });
});
