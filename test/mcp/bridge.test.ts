import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { program, startBridge } from "../support/bridge.ts";
import { createClient } from "../support/client.ts";
import { ctxd } from "../support/command-line.ts";
import { CLIENTS, connectHttp, connectProgram, shownIn } from "../support/mcp.ts";
import { until } from "../support/until.ts";
import { createDataFolders, initialize, saveCall, textOf } from "./support/bridges.ts";

// Most of these start a program, which starts a server that loads the model.

const { newFolder, shared } = createDataFolders();

describe.each(CLIENTS)("a client of the kind %s", (name) => {
  test("saves, finds, changes and deletes in an empty folder, without an account, key or set-up", async () => {
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
    expect((await client.prompts()).length).toBe(3);
  });
});

test("two bridges and an HTTP client see the same memories after hundreds of calls", async () => {
  const dataDir = newFolder();
  const calls = process.env.LONG ? 500 : 100;
  // Calls that an agent makes at the same time.
  const together = 10;
  // Both find no server and start one; only one of the servers gets the folder.
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
      let cursor: string | undefined;
      do {
        const args = { limit: 25, max_tokens: 50_000, ...(cursor !== undefined && { cursor }) };
        const page = await client.call("list_memories", args);
        all.push(...shownIn(page).map(({ content }) => content));
        cursor = /cursor (\S+)$/.exec(page.text)?.[1];
      } while (cursor !== undefined);
      return all;
    }),
  );
  expect(seen[0]?.length).toBe(1 + clients.length * (calls / together));
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
  for (const client of clients) await client.close();
});

test("bridges that start at the same time find one server", async () => {
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
  test("answers every request that came before its input ended, and writes only messages", async () => {
    const dataDir = shared;
    const bridge = startBridge(dataDir);
    bridge.send(initialize);
    bridge.send({ method: "notifications/initialized" });
    bridge.send({ id: 1, method: "tools/list" });
    bridge.send(saveCall("two", "last words"));
    expect(await bridge.end()).toBe(0);
    const answers = [await bridge.next(), await bridge.next(), await bridge.next()];
    expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([0, 1, "two"]));
    expect(await bridge.next()).toBeNull();
    expect(await bridge.child.stderr.text()).toBe("");
  });

  test("ends at once when its input is empty", async () => {
    expect(await startBridge(shared).end()).toBe(0);
  });

  test("ends on SIGTERM and SIGINT while its input is open", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const bridge = startBridge(shared);
      bridge.send(initialize);
      await bridge.next();
      bridge.child.kill(signal);
      expect(await bridge.child.exited).toBe(0);
    }
  });

  test("still works after invalid input", async () => {
    const bridge = startBridge(shared);
    bridge.write("garbage\n\n \r\n{\n[]\n42\nnull\n\u0000\n");
    bridge.write(`"${"x".repeat(3 << 20)}"\n`);
    bridge.child.stdin.write(new Uint8Array([0xff, 0xfe, 0x0a]));
    bridge.send({ id: { odd: true }, method: "tools/list" });
    bridge.send({ id: 7, method: 5 });
    bridge.send({ id: 8, method: "no/such" });
    bridge.send({ id: 9, method: "tools/call", params: { name: "no_such" } });
    const answers: Record<string, unknown>[] = [];
    await until("the last requests are answered", async () => {
      answers.push(await bridge.next());
      return [8, 9].every((id) => answers.some((answer) => answer.id === id));
    });
    for (const answer of answers) expect(answer).toMatchObject({ jsonrpc: "2.0" });
    bridge.send({ ...initialize, id: 10 });
    const last = await until("initialize is answered", async () => {
      const answer = await bridge.next();
      return answer.id === 10 && answer;
    });
    expect(last).toMatchObject({ result: { serverInfo: { name: "ctxd" } } });
    expect(await bridge.end()).toBe(0);
  });

  test("reads lines that arrive byte by byte, in any language", async () => {
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

  test("does not answer a cancelled request", async () => {
    const bridge = startBridge(newFolder());
    // The model still loads, so the search waits when it is cancelled.
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

  test("stops reading while its client does not read, with bounded memory", async () => {
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
    // The bridge has stopped reading when nothing is taken for a while. Only time can show that.
    await until("the bridge stops reading", async () => {
      const before = taken;
      await Bun.sleep(700);
      return before === taken;
    });
    const status = readFileSync(`/proc/${bridge.child.pid}/status`, "utf8");
    const resident = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
    // All answers together would take 300 MB.
    expect(resident).toBeLessThan(250_000);
    bridge.child.kill();
    expect(await bridge.child.exited).toBe(0);
  });

  test("loses no answered call when it is killed", async () => {
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
    await until("ten calls are answered", async () => {
      const [id] = /mem_[0-9a-f]{32}/.exec(textOf(await bridge.next())) ?? [];
      if (id) answered.push(id);
      return answered.length >= 10;
    });
    bridge.child.kill("SIGKILL");
    await bridge.child.exited;
    const next = startBridge(dataDir);
    for (const id of answered) {
      expect(textOf(await next.call("get_memory", { id }))).toContain(id);
    }
    expect(await next.end()).toBe(0);
  });
});
