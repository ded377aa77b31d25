import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { isLocked } from "../../src/db/data-lock.ts";
import { createLocalSocket } from "../../src/local/local-socket.ts";
import { fieldsOf } from "../../src/mcp/http-message.ts";
import { program, serverOf, start, startBridge, stopServer } from "../support/bridge.ts";
import { ctxd } from "../support/command-line.ts";
import { connectProgram } from "../support/mcp.ts";
import { until } from "../support/until.ts";
import { createDataFolders, initialize, noDashboard, saveCall, textOf } from "./support/bridges.ts";

// Most of these start a program, which starts a server that loads the model.

const { newFolder } = createDataFolders();

describe("when the server", () => {
  test("is killed and restarts, no call is lost and nothing is saved twice", async () => {
    const dataDir = newFolder();
    const bridge = startBridge(dataDir);
    expect(textOf(await bridge.call("save_memory", { content: "first" }))).toContain("Saved as");
    for (let round = 0; round < 2; round++) {
      const calls = Array.from({ length: 20 }, (_, n) => `round ${round} note ${n}`);
      for (const [id, content] of calls.entries()) {
        bridge.send(saveCall(id, content));
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

  test("ends before it answers, the bridge repeats the call with the same idempotency key", async () => {
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

  test("was started by a person, the bridge uses that server", async () => {
    const dataDir = newFolder();
    const server = start(dataDir, "serve");
    await until("the server listens", () => existsSync(join(dataDir, "ctxd.sock")));
    const bridge = startBridge(dataDir);
    expect(textOf(await bridge.call("save_memory", { content: "x" }))).toContain("Saved as");
    expect(serverOf(dataDir)).toBe(server.pid);
    expect(await bridge.end()).toBe(0);
    server.kill();
    expect(await server.exited).toBe(0);
    expect(existsSync(join(dataDir, "ctxd.sock"))).toBe(false);
  });

  test("has an owner, the bridge saves to the owner's account", async () => {
    const dataDir = newFolder();
    await ctxd(["user", "add", "you@example.com"], { dataDir, input: "correct horse battery\n" });
    const bridge = startBridge(dataDir);
    await bridge.call("save_memory", { content: "mine" });
    const { stdout } = await ctxd(["user", "list", "--json"], { dataDir });
    expect(JSON.parse(stdout)).toMatchObject([{ email: "you@example.com", role: "owner" }]);
    expect(await bridge.end()).toBe(0);
  });

  test("can't start, calls fail with the reason", async () => {
    const dataDir = newFolder();
    mkdirSync(join(dataDir, "ctxd.db"), { recursive: true });
    const bridge = startBridge(dataDir);
    const answer = await bridge.call("list_memories", {});
    expect(textOf(answer)).toContain("ctxd.db");
    expect(await bridge.end()).toBe(0);
  });

  test("has another version, the bridge warns and works", async () => {
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

test("a bridge with --project sends nothing to a server that can't limit it to a project", async () => {
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
  test("ends after its last client, and removes its socket", async () => {
    const dataDir = newFolder();
    const server = start(dataDir, "serve", "--background", "2");
    // A bridge that finds no server starts one itself.
    await until("the server has locked the folder", () => isLocked(dataDir));
    const bridge = startBridge(dataDir);
    bridge.send(initialize);
    await bridge.next();
    // A silent client counts too. This sleep is longer than the server stays without a client, to show that it
    // does not end.
    await Bun.sleep(3_000);
    expect(isLocked(dataDir)).toBe(true);
    expect(await bridge.end()).toBe(0);
    expect(await server.exited).toBe(0);
    expect(isLocked(dataDir)).toBe(false);
    expect(existsSync(join(dataDir, "ctxd.sock"))).toBe(false);
  });

  test("works without its port when another program uses the port", async () => {
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

  test("gives only its owner access to its socket and log", async () => {
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

  test("is reachable in a folder whose path is too long for a socket", async () => {
    const dataDir = newFolder(join("deep".repeat(20), "deeper".repeat(20), "data"));
    const bridge = startBridge(dataDir);
    expect(textOf(await bridge.call("save_memory", { content: "x" }))).toContain("Saved as");
    expect(statSync(join(dataDir, "ctxd.sock")).isSocket()).toBe(true);
    expect(await bridge.end()).toBe(0);
  });
});
