import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Socket } from "bun";
import { wholeAccount } from "../../src/keys/reach.ts";
import { MAX_BATCH } from "../../src/memories/model/memory.ts";
import type { Client } from "../support/client.ts";
import { rawRequest } from "../support/raw-http.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { until } from "../support/until.ts";

/** Seconds: longer than a test takes, where no connection is to be closed for being idle. */
const LONG_IDLE = 240;
/** More than anyone gets room for, at once. */
const MANY = 16;
/** Characters that JSON escapes: an answer with a hundred such memories has 20 MB. */
const LONG = `x${"\u0001".repeat(32_700)}`;

let server: TestServer;
let mallory: Client;
let alice: Client;
const sockets = new Set<Socket>();
/** An account with a hundred of the longest memories. */
async function enter(of: TestServer) {
  const account = await of.account();
  const memories = Array.from({ length: 100 }, (_, n) => ({ content: `${n} ${LONG}` }));
  await of.memories.saveAll(wholeAccount(account.accountId), memories);
  return account;
}
beforeAll(async () => {
  server = await startServer({ idleTimeout: LONG_IDLE });
  mallory = await enter(server);
  alice = await enter(server);
});
const leave = () => {
  for (const socket of sockets) socket.terminate();
  sockets.clear();
};
afterAll(async () => {
  leave();
  await server.close();
});

/** Sends a request, and reads nothing but the beginning of the answer. @returns its status */
function send(request: Uint8Array, { port } = server): Promise<number> {
  return new Promise((resolve) => {
    void Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        open(socket) {
          sockets.add(socket);
          socket.write(request);
        },
        data(socket, bytes) {
          socket.pause();
          resolve(Number(bytes.toString("latin1").split(" ")[1]));
        },
        close: () => resolve(0),
      },
    });
  });
}

const askWithoutReading = (path: string, { key }: Client, of = server) =>
  send(rawRequest(`GET ${path}`, { authorization: `Bearer ${key}` }), of);

const read = async (path: string, { key }: Client, { origin } = server) => {
  const answer = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } });
  return { status: answer.status, bytes: (await answer.arrayBuffer()).byteLength };
};

test.each([
  "/api/memories?limit=100",
  "/api/memories/search?q=x&limit=100",
  "/api/memories/export",
])(
  "answers that nobody reads hold a bounded memory, and none of other accounts: GET %s",
  async (path) => {
    const statuses = await Promise.all(
      Array.from({ length: MANY }, () => askWithoutReading(path, mallory)),
    );
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(1);
    expect(statuses.filter((status) => status === 200).length).toBeLessThan(10);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(5);
    expect((await read(path, alice)).status).toBe(200);
    await alice.save({ content: `Deploys on Friday ${crypto.randomUUID()}` });

    leave();
    const answered = await until("there is room again", async () => {
      const answer = await read(path, mallory);
      return answer.status === 200 && answer;
    });
    expect(answered.bytes).toBeGreaterThan(100 * 6 * 32_700);
  },
);

test("a client that never reads is disconnected, and its room comes back", async () => {
  const path = "/api/memories?limit=100";
  await using impatient = await startServer({ idleTimeout: 4 });
  const client = await enter(impatient);
  await Promise.all(Array.from({ length: MANY }, () => askWithoutReading(path, client, impatient)));
  // On a busy machine this client may be too slow too.
  const hasRoom = () =>
    read(path, client, impatient).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until("there is room again", hasRoom, 200);
});

test.each([{ "content-length": String(MAX_BATCH.bytes) }, { "transfer-encoding": "chunked" }])(
  "batches that never arrive in full hold a bounded memory, and none of other accounts: %j",
  async (length) => {
    const json = { authorization: `Bearer ${mallory.key}`, "content-type": "application/json" };
    const body = 'e\r\n{"memories": [\r\n';
    let refused = 0;
    const most = Math.ceil((256 << 20) / MAX_BATCH.bytes);
    for (let n = 0; n < 2 * most; n++) {
      void send(rawRequest("POST /api/memories/batch", { ...json, ...length }, body)).then(
        (status) => (refused += status === 429 ? 1 : 0),
      );
    }
    await until("most are refused", () => refused >= most);
    await alice.saveAll(Array.from({ length: 8 }, (_, n) => ({ content: `${n} ${LONG}` })));

    leave();
    const path = "/api/memories?limit=100";
    await until("there is room again", async () => (await read(path, mallory)).status === 200);
  },
);

test("many clients that read their answers are all served", async () => {
  const path = "/api/memories?limit=100";
  // More than there is room for at once.
  const statuses = [];
  for (let n = 0; n < 8; n++) statuses.push((await read(path, mallory)).status);
  expect(new Set(statuses)).toEqual(new Set([200]));
});
