import { afterAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { rawRequest } from "../support/raw-http.ts";
import { until } from "../support/until.ts";

/** Connections of each kind. */
const MANY = 500;

const server = await startOAuthServer({ idleTimeout: 1 });
const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});
const mallory = await server.account();
const victim = await server.signedIn();
const alice = await server.client(victim.accountId);

const INITIALIZE = JSON.stringify({
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: {
    ...{ protocolVersion: "2025-06-18", capabilities: {} },
    clientInfo: { name: "mallory", version: "1" },
  },
});
const message = (body: string, length = body.length) =>
  rawRequest(
    "POST /mcp",
    {
      ...{ authorization: `Bearer ${mallory.key}`, connection: "keep-alive" },
      ...{ "content-type": "application/json", "content-length": String(length) },
      accept: "application/json, text/event-stream",
    },
    body,
  );

/** Opens connections that send this and nothing more. */
function openMany(request: (n: number) => Uint8Array) {
  let answered = 0;
  let closed = 0;
  for (let n = 0; n < MANY; n++) {
    const socket = connect(server.port, "127.0.0.1", () => socket.write(request(n)));
    sockets.push(socket);
    socket.once("data", () => answered++).resume();
    socket.on("error", () => {}).on("close", () => closed++);
  }
  return { answered: () => answered, closed: () => closed };
}

/** Another account saves, searches and follows its memories. */
async function expectNoHarm() {
  const { id } = await alice.save({ content: `Deploys on Friday ${crypto.randomUUID()}` });
  expect((await alice.search("deploys on Friday")).map((memory) => memory.id)).toContain(id);
  const gone = new AbortController();
  const cookie = `ctxd-session=${victim.person.jar.get("ctxd-session")}`;
  const stream = await fetch(`${server.origin}/events?of=memories`, {
    ...{ headers: { cookie }, redirect: "manual", signal: gone.signal },
  });
  expect(stream.headers.get("content-type")).toBe("text/event-stream");
  gone.abort();
}

test("sessions that are begun and never ended are closed, and disturb nobody meanwhile", async () => {
  const begun = openMany(() => message(INITIALIZE));
  await until("all are answered", () => begun.answered() === MANY);
  await expectNoHarm();
  await until("all are closed", () => begun.closed() === MANY);
});

test("a message that never arrives in full holds no connection", async () => {
  const half = openMany((n) => message("{", 1_000 + n));
  await expectNoHarm();
  await until("all are closed", () => half.closed() === MANY);
});
