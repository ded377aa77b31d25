import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { lockDataFolder } from "../../src/db/data-lock.ts";
import { createLocalSocket } from "../../src/local/local-socket.ts";
import { fetchOnSocket } from "../../src/system/local-socket.ts";
import { startBridge } from "../support/bridge.ts";
import { afterThisTest, temporaryFolder } from "../support/database.ts";
import { envelope, NEW } from "./support/agent-messages.ts";
import { createDataFolders, initialize, noDashboard, saveCall, textOf } from "./support/bridges.ts";

// Some of these start a server, which loads the model.

const { newFolder } = createDataFolders();

/** The data folder of a server that is about to start, and its requests once it has. */
function startingServer() {
  const dataDir = temporaryFolder();
  const lock = lockDataFolder(dataDir, version, true);
  const asked: { method: unknown; agent: string | null; protocol: string | null }[] = [];
  afterThisTest(lock.release);
  return {
    dataDir,
    asked,
    listen() {
      const open = createLocalSocket({ ownerId: async () => "acc_1" }).listen(dataDir, {
        version,
        async answer(request) {
          const { id, method } = (await request.json()) as { id?: number; method: string };
          const agent = request.headers.get("ctxd-agent");
          asked.push({ method, agent, protocol: request.headers.get("mcp-protocol-version") });
          if (id === undefined) return new Response(null, { status: 202 });
          return Response.json({ jsonrpc: "2.0", id, result: { from: "the server" } });
        },
        openDashboard: noDashboard,
      });
      afterThisTest(open.close);
    },
  };
}

test("before a server answers, a bridge answers all that a client asks first, and nothing else", async () => {
  const server = startingServer();
  const bridge = startBridge(server.dataDir, "--agent", "helper");
  bridge.send({ ...initialize, params: { ...initialize.params, protocolVersion: "2025-06-18" } });
  expect(await bridge.next()).toMatchObject({
    id: 0,
    result: { protocolVersion: "2025-06-18", serverInfo: { name: "ctxd", version } },
  });
  bridge.send({ method: "notifications/initialized" });
  bridge.send(saveCall("call", "x"));
  bridge.send({ id: "memories", method: "resources/list" });
  for (const method of ["tools/list", "prompts/list", "resources/templates/list", "ping"]) {
    bridge.send({ id: method, method });
    expect(await bridge.next()).toMatchObject({ id: method, result: expect.anything() });
  }
  server.listen();
  const later = [await bridge.next(), await bridge.next()];
  expect(later.map(({ id }) => id).sort()).toEqual(["call", "memories"]);
  for (const { result } of later) expect(result).toEqual({ from: "the server" });
  expect(await bridge.end()).toBe(0);
  // The server has learnt who came, and in which version later messages are.
  const { asked } = server;
  expect(asked.find(({ method }) => method === "initialize")?.agent).toBe("helper");
  expect(asked.map(({ method }) => method)).not.toContain("tools/list");
  expect(asked.find(({ method }) => method === "tools/call")?.protocol).toBe("2025-06-18");
});

test("a server that hangs does not keep a client from beginning", async () => {
  const dataDir = newFolder();
  mkdirSync(dataDir);
  await using hanging = Bun.serve({
    unix: join(dataDir, "ctxd.sock"),
    fetch: () => new Promise<Response>(() => {}),
  });
  const bridge = startBridge(dataDir);
  bridge.send(initialize);
  expect(await bridge.next()).toMatchObject({ id: 0, result: { serverInfo: { name: "ctxd" } } });
  bridge.child.kill();
  expect(await bridge.child.exited).toBe(0);
  await hanging.stop(true);
});

test("in an empty folder, a bridge answers word for word as its server does later", async () => {
  const dataDir = newFolder();
  const bridge = startBridge(dataDir);
  const lists = ["tools/list", "prompts/list", "resources/templates/list"];
  const messages = [
    initialize,
    ...[...lists, "ping"].map((method) => ({ id: method, method })),
    ...[...lists, "server/discover"].map((method) => ({
      ...{ id: `${NEW} ${method}`, method },
      params: envelope("x"),
    })),
  ].map((message) => ({ jsonrpc: "2.0", ...message }));
  const early = [];
  for (const message of messages) {
    bridge.send(message);
    early.push(await bridge.next());
  }
  expect(textOf(await bridge.call("save_memory", { content: "first words" }))).toContain("Saved");
  const ofServer = await Promise.all(messages.map((message) => askServer(dataDir, message)));
  expect(early).toEqual(ofServer);
  expect(await bridge.end()).toBe(0);
});

async function askServer(dataDir: string, message: { method: string; params?: object }) {
  const isNew = message.params !== undefined && "_meta" in message.params;
  const response = await fetchOnSocket(dataDir, "/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(isNew && { "mcp-protocol-version": NEW, "mcp-method": message.method }),
    },
    body: JSON.stringify(message),
  });
  const text = await response.text();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}
