import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { isLocked } from "../../src/db/data-lock.ts";
import { fieldsOf } from "../../src/mcp/json-rpc.ts";
import { createLocalSocket } from "../../src/mcp/local-socket.ts";
import { program, serverOf, start, startBridge, stopServer } from "../support/bridge.ts";
import { createClient } from "../support/client.ts";
import { ctxd } from "../support/command-line.ts";
import { CLIENTS, connectHttp, connectProgram, shownIn } from "../support/mcp.ts";

// Most of these start a program, and that one a server, which loads the model.
setDefaultTimeout(120_000);

const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const folders: string[] = [];
/** One folder for what does not depend on how its server began; that runs until the end. */
const shared = join(root, "shared");
afterAll(async () => {
  await stopServer(shared);
  rmSync(root, { recursive: true });
});

/** A data folder that is not there yet; its server ends with the test. */
function newFolder(name = `data-${folders.length}`): string {
  const folder = join(root, name);
  folders.push(folder);
  return folder;
}

afterEach(async () => {
  for (const folder of folders) await stopServer(folder);
});

const initialize = {
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

const noDashboard = async () => ({ address: "", setUp: null });

function textOf(answer: Record<string, unknown>): string {
  return JSON.stringify(answer.result ?? answer.error);
}

describe.each(CLIENTS)("a client of the kind %s", (name) => {
  test("works in an empty folder, without account, key or set-up", async () => {
    const dataDir = newFolder();
    await using client = await connectProgram(name, program(dataDir, "mcp", "--agent", "helper"));
    expect((await client.tools()).length).toBe(7);
    const saved = await client.call("save_memory", { content: "Sam is allergic to peanuts" });
    expect(saved).toMatchObject({ isError: false });
    const { id } = saved.data;
    const found = await client.call("search_memories", { query: "what must Sam not eat?" });
    expect(shownIn(found)).toMatchObject([{ id: String(id) }]);
    expect(found.text).toContain("agent: helper");
    await client.call("update_memory", { id, content: "Sam is not allergic any more" });
    expect((await client.read(`memory://${id}`)).at(0)).toMatchObject({
      text: expect.stringContaining("not allergic any more"),
    });
    expect((await client.call("delete_memory", { id })).isError).toBe(false);
    expect(shownIn(await client.call("search_memories", { query: "Sam" }))).toEqual([]);
    expect((await client.call("get_memory", { id })).text).toContain("Search first");
    expect((await client.prompts()).length).toBe(1);
  });
});

test("two bridges and a client over HTTP share one memory, hundreds of calls each", async () => {
  const dataDir = newFolder();
  const calls = process.env.LONG ? 500 : 200;
  // What an agent does at once when it looks up several things.
  const together = 10;
  // Both find no server: one of those that they start gets the folder.
  const bridges = await Promise.all([
    connectProgram("v1", program(dataDir, "mcp", "--agent", "first")),
    connectProgram("v2 new", program(dataDir, "mcp", "--agent", "second")),
  ]);
  const { data } = (await bridges[0]?.call("save_memory", { content: "seen by all" })) ?? {};
  const key = await ctxd(["key", "create", "--user", "local@localhost", "--name", "test"], {
    dataDir,
  });
  const { env } = program(dataDir);
  const dashboard = await ctxd(["dashboard", "--no-browser"], { dataDir, env });
  const { origin } = new URL(dashboard.stdout.trim());
  const http = createClient(origin, key.stdout.trim());
  const remote = await connectHttp("v2 old", origin, { authorization: `Bearer ${http.key}` });
  const clients = [...bridges, remote];
  await Promise.all(
    clients.map(async (client, index) => {
      for (let round = 0; round < calls / together; round++) {
        const saving = client.call("save_memory", { content: `note ${round} of ${index}` });
        const reading = Array.from({ length: together - 1 }, () =>
          client.call("get_memory", { id: data?.id }),
        );
        for (const { isError } of await Promise.all([saving, ...reading])) {
          expect(isError).toBe(false);
        }
      }
    }),
  );
  const seen = await Promise.all(
    clients.map(async (client) => {
      const all: string[] = [];
      for (let cursor: unknown; ; ) {
        const args = { limit: 25, max_tokens: 50_000, ...(cursor !== undefined && { cursor }) };
        const page = await client.call("list_memories", args);
        all.push(...shownIn(page).map(({ content }) => content));
        cursor = /cursor (\S+)$/.exec(page.text)?.[1];
        if (cursor === undefined) return all;
      }
    }),
  );
  expect(seen[0]?.length).toBe(1 + clients.length * (calls / together));
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
  for (const client of clients) await client.close();
});

test("many bridges that start at once find one server", async () => {
  const dataDir = newFolder();
  const bridges = Array.from({ length: 5 }, () => startBridge(dataDir));
  const answers = await Promise.all(
    bridges.map(({ call }, n) => call.call(bridges[n], "save_memory", { content: `from ${n}` })),
  );
  for (const answer of answers) expect(textOf(answer)).toContain("Saved as");
  const listed = await bridges[0]?.call("list_memories", {});
  for (let n = 0; n < 5; n++) expect(textOf(listed ?? {})).toContain(`from ${n}`);
  for (const bridge of bridges) expect(await bridge.end()).toBe(0);
});

describe("a bridge", () => {
  test("answers what it was asked before its input ended, and nothing but messages", async () => {
    const dataDir = shared;
    const bridge = startBridge(dataDir);
    bridge.send(initialize);
    bridge.send({ method: "notifications/initialized" });
    bridge.send({ id: 1, method: "tools/list" });
    bridge.send({
      id: "two",
      method: "tools/call",
      params: { name: "save_memory", arguments: { content: "last words" } },
    });
    expect(await bridge.end()).toBe(0);
    const answers = [await bridge.next(), await bridge.next(), await bridge.next()];
    expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([0, 1, "two"]));
    expect(await bridge.next()).toBeNull();
    expect(await bridge.child.stderr.text()).toBe("");
  });

  test("ends at once with an input that says nothing", async () => {
    expect(await startBridge(shared).end()).toBe(0);
  });

  test("ends when it is told to, while its input is open", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const bridge = startBridge(shared);
      bridge.send(initialize);
      await bridge.next();
      bridge.child.kill(signal);
      expect(await bridge.child.exited).toBe(0);
    }
  });

  test("goes on after garbage", async () => {
    const bridge = startBridge(shared);
    bridge.write("garbage\n\n \r\n{\n[]\n42\nnull\n\u0000\n");
    bridge.write(`"${"x".repeat(3 << 20)}"\n`);
    bridge.child.stdin.write(new Uint8Array([0xff, 0xfe, 0x0a]));
    bridge.send({ id: { odd: true }, method: "tools/list" });
    bridge.send({ id: 7, method: 5 });
    bridge.send({ id: 8, method: "no/such" });
    bridge.send({ id: 9, method: "tools/call", params: { name: "no_such" } });
    const answers: Record<string, unknown>[] = [];
    while (!answers.some(({ id }) => id === 9) || !answers.some(({ id }) => id === 8)) {
      answers.push(await bridge.next());
    }
    for (const answer of answers) expect(answer).toMatchObject({ jsonrpc: "2.0" });
    bridge.send({ ...initialize, id: 10 });
    let last = await bridge.next();
    while (last.id !== 10) last = await bridge.next();
    expect(last).toMatchObject({ result: { serverInfo: { name: "ctxd" } } });
    expect(await bridge.end()).toBe(0);
  });

  test("takes lines that come in pieces, in any language", async () => {
    const bridge = startBridge(shared);
    const message = {
      id: 1,
      method: "tools/call",
      params: {
        name: "save_memory",
        arguments: { content: "Öl, 猫 und 🦊" },
      },
    };
    for (const byte of Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\r\n`)) {
      bridge.child.stdin.write(new Uint8Array([byte]));
      bridge.child.stdin.flush();
    }
    expect(textOf(await bridge.next())).toContain("Saved as");
    expect(textOf(await bridge.call("list_memories", {}, 2))).toContain("Öl, 猫 und 🦊");
    expect(await bridge.end()).toBe(0);
  });

  test("does not answer what was cancelled", async () => {
    const bridge = startBridge(newFolder());
    // The model still loads: the search waits, and is called off.
    bridge.send({
      id: 1,
      method: "tools/call",
      params: { name: "search_memories", arguments: { query: "x" } },
    });
    bridge.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    bridge.send({ id: 2, method: "ping" });
    expect((await bridge.next()).id).toBe(2);
    expect(await bridge.end()).toBe(0);
    expect(await bridge.next()).toBeNull();
  });

  test("waits for a client that does not read, with bounded memory", async () => {
    const dataDir = shared;
    const bridge = startBridge(dataDir);
    const content = "long ".repeat(6_000);
    const { id } = (await bridge.call("save_memory", { content })).result as { id: unknown };
    expect(id).toBeUndefined();
    const listed = textOf(await bridge.call("list_memories", {}));
    const [memory] = /mem_[0-9a-f]{32}/.exec(listed) ?? [];
    const line = `${JSON.stringify({
      jsonrpc: "2.0",
      id: 5,
      method: "tools/call",
      params: { name: "get_memory", arguments: { id: memory } },
    })}\n`;
    const asked = 5_000;
    let taken = 0;
    void (async () => {
      for (; taken < asked; taken++) {
        bridge.child.stdin.write(line);
        await bridge.child.stdin.flush();
      }
    })().catch(() => {});
    // Until it takes no more: that it stands still is seen in time alone.
    for (let before = -1; before !== taken; await Bun.sleep(700)) before = taken;
    const status = readFileSync(`/proc/${bridge.child.pid}/status`, "utf8");
    const resident = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
    // All the answers together would have 300 MB.
    expect(resident).toBeLessThan(250_000);
    bridge.child.kill();
    expect(await bridge.child.exited).toBe(0);
  });

  test("that is killed in the middle of its calls loses nothing that was answered", async () => {
    const dataDir = shared;
    const bridge = startBridge(dataDir);
    const answered: string[] = [];
    for (let id = 0; id < 30; id++) {
      bridge.send({
        id,
        method: "tools/call",
        params: { name: "save_memory", arguments: { content: `note ${id}` } },
      });
    }
    while (answered.length < 10) {
      const [id] = /mem_[0-9a-f]{32}/.exec(textOf(await bridge.next())) ?? [];
      if (id) answered.push(id);
    }
    bridge.child.kill("SIGKILL");
    await bridge.child.exited;
    const next = startBridge(dataDir);
    for (const id of answered) {
      expect(textOf(await next.call("get_memory", { id }))).toContain(id);
    }
    expect(await next.end()).toBe(0);
  });
});

describe("when the server", () => {
  test("is killed and comes back, no call is lost and nothing is saved twice", async () => {
    const dataDir = newFolder();
    const bridge = startBridge(dataDir);
    expect(textOf(await bridge.call("save_memory", { content: "first" }))).toContain("Saved as");
    for (let round = 0; round < 2; round++) {
      const calls = Array.from({ length: 20 }, (_, n) => `round ${round} note ${n}`);
      for (const [id, content] of calls.entries()) {
        bridge.send({
          id,
          method: "tools/call",
          params: { name: "save_memory", arguments: { content } },
        });
      }
      await bridge.next();
      await stopServer(dataDir, round === 0 ? "SIGKILL" : "SIGTERM");
      for (let n = 1; n < calls.length; n++) {
        expect(textOf(await bridge.next())).toContain("Saved as");
      }
    }
    const listed = await bridge.call("list_memories", { limit: 100, max_tokens: 50_000 });
    expect(JSON.stringify(listed).match(/mem_[0-9a-f]{32} · /g)).toHaveLength(41);
    expect(await bridge.end()).toBe(0);
  });

  test("ends before it has answered, the call is sent again with the same key", async () => {
    const dataDir = newFolder();
    mkdirSync(dataDir);
    const keys: (string | null)[] = [];
    const socket = createLocalSocket({ ownerId: async () => "acc_1" });
    const open = socket.listen(dataDir, {
      version,
      async answer(request) {
        keys.push(request.headers.get("idempotency-key"));
        const { id } = fieldsOf(await request.json());
        if (keys.length > 2) return Response.json({ jsonrpc: "2.0", id, result: {} });
        return new Response("", { headers: { "content-type": "text/event-stream" } });
      },
      openDashboard: noDashboard,
    });
    const bridge = startBridge(dataDir);
    expect(await bridge.call("save_memory", { content: "x" }, 1)).toMatchObject({ result: {} });
    expect(await bridge.call("save_memory", { content: "x" }, 2)).toMatchObject({ result: {} });
    const [first, second, third, next] = keys;
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect([second, third]).toEqual([first ?? "", first ?? ""]);
    expect(next).not.toBe(first ?? "");
    expect(await bridge.end()).toBe(0);
    await open.close();
  });

  test("is one that a person started, the bridge uses that", async () => {
    const dataDir = newFolder();
    const server = start(dataDir, "serve");
    while (!existsSync(join(dataDir, "ctxd.sock"))) await Bun.sleep(20);
    const bridge = startBridge(dataDir);
    expect(textOf(await bridge.call("save_memory", { content: "x" }))).toContain("Saved as");
    expect(serverOf(dataDir)).toBe(server.pid);
    expect(await bridge.end()).toBe(0);
    server.kill();
    expect(await server.exited).toBe(0);
    expect(existsSync(join(dataDir, "ctxd.sock"))).toBe(false);
  });

  test("has an owner, the local memories are the owner's", async () => {
    const dataDir = newFolder();
    await ctxd(["user", "add", "you@example.com"], { dataDir, input: "correct horse battery\n" });
    const bridge = startBridge(dataDir);
    await bridge.call("save_memory", { content: "mine" });
    const { stdout } = await ctxd(["user", "list", "--json"], { dataDir });
    expect(JSON.parse(stdout)).toMatchObject([{ email: "you@example.com", role: "owner" }]);
    expect(await bridge.end()).toBe(0);
  });

  test("can't start, the calls are told why", async () => {
    const dataDir = newFolder();
    mkdirSync(join(dataDir, "ctxd.db"), { recursive: true });
    const bridge = startBridge(dataDir);
    const answer = await bridge.call("list_memories", {});
    expect(textOf(answer)).toContain("ctxd.db");
    expect(await bridge.end()).toBe(0);
  });

  test("is of another version, the bridge says so and works", async () => {
    const dataDir = newFolder();
    mkdirSync(dataDir);
    const socket = createLocalSocket({ ownerId: async () => "acc_1" });
    const open = socket.listen(dataDir, {
      version: "99.0.0",
      answer: async () => Response.json({ jsonrpc: "2.0", id: 0, result: {} }),
      openDashboard: noDashboard,
    });
    const bridge = startBridge(dataDir);
    bridge.send(initialize);
    expect(await bridge.next()).toEqual({ jsonrpc: "2.0", id: 0, result: {} });
    expect(await bridge.end()).toBe(0);
    const said = await bridge.child.stderr.text();
    expect(said).toContain("99.0.0");
    expect(said).toContain(version);
    await open.close();
  });
});

test("a server that keeps no agent to a project is told to nobody who wants that", async () => {
  const dataDir = newFolder();
  mkdirSync(dataDir);
  const asked: string[] = [];
  const earlier = Bun.serve({
    unix: join(dataDir, "ctxd.sock"),
    fetch({ url }) {
      asked.push(new URL(url).pathname);
      const body = new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array([10])) });
      return new Response(body, { headers: { "ctxd-version": version } });
    },
  });
  const bridge = startBridge(dataDir, "--project", "atlas");
  const answer = await bridge.call("list_memories", {});
  expect(textOf(answer)).toContain("can't limit an agent to a project");
  expect(asked).not.toContain("/mcp");
  expect(await bridge.end()).toBe(0);
  await earlier.stop(true);
});

describe("the server in the background", () => {
  test("ends by itself after its last client, and leaves no socket behind", async () => {
    const dataDir = newFolder();
    const server = start(dataDir, "serve", "--background", "2");
    // A bridge that finds nobody starts a server of its own.
    while (!isLocked(dataDir)) await Bun.sleep(10);
    const bridge = startBridge(dataDir);
    bridge.send(initialize);
    await bridge.next();
    // A client that says nothing is one all the same: longer than the server waits without one.
    await Bun.sleep(3_000);
    expect(isLocked(dataDir)).toBe(true);
    expect(await bridge.end()).toBe(0);
    expect(await server.exited).toBe(0);
    expect(isLocked(dataDir)).toBe(false);
    expect(existsSync(join(dataDir, "ctxd.sock"))).toBe(false);
  });

  test("does without its port when another program has that", async () => {
    const dataDir = newFolder();
    await using other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response(""),
    });
    const { command, args, env } = program(dataDir, "mcp");
    const client = await connectProgram("v1", {
      command,
      args,
      env: { ...env, CTXD_PORT: String(other.port) },
    });
    expect((await client.call("save_memory", { content: "x" })).isError).toBe(false);
    await client.close();
  });

  test("keeps its socket and its log to its owner", async () => {
    const dataDir = newFolder();
    mkdirSync(dataDir, { mode: 0o755 });
    const bridge = startBridge(dataDir);
    await bridge.call("save_memory", { content: "private words" });
    for (const file of ["ctxd.sock", "background.log"]) {
      expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
    }
    expect(readFileSync(join(dataDir, "background.log"), "utf8")).not.toContain("private words");
    expect(await bridge.end()).toBe(0);
  });

  test("is reached in a folder whose path is longer than a socket's may be", async () => {
    const dataDir = newFolder(join("deep".repeat(20), "deeper".repeat(20), "data"));
    const bridge = startBridge(dataDir);
    expect(textOf(await bridge.call("save_memory", { content: "x" }))).toContain("Saved as");
    expect(statSync(join(dataDir, "ctxd.sock")).isSocket()).toBe(true);
    expect(await bridge.end()).toBe(0);
  });
});
