import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOwner } from "../../src/db/data-lock.ts";
import { serverOf, start, startBridge, stopServer } from "../support/bridge.ts";
import { until } from "../support/until.ts";

const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const dataDir = join(root, "data");
afterEach(async () => {
  await stopServer(dataDir);
  rmSync(root, { recursive: true, force: true });
});

test("a server that a person starts takes over from one in the background, and no call is lost", async () => {
  const bridges = [startBridge(dataDir), startBridge(dataDir)];
  const save = (index: number) => bridges[index]?.call("save_memory", { content: `by ${index}` });
  await Promise.all([save(0), save(1)]);
  const background = serverOf(dataDir);
  const calls = 40;
  for (const [index, bridge] of bridges.entries()) {
    for (let id = 0; id < calls; id++) {
      bridge.send({
        id,
        method: "tools/call",
        params: { name: "save_memory", arguments: { content: `${id} of ${index}` } },
      });
    }
  }
  const server = start(dataDir, "serve");
  for (const bridge of bridges) {
    for (let n = 0; n < calls; n++) {
      expect(JSON.stringify(await bridge.next())).toContain("Saved as");
    }
  }
  // The calls may all have been answered before the new server is there.
  await until("the new server has the folder", () => readOwner(dataDir)?.pid === server.pid);
  expect(server.pid).not.toBe(background);
  for (const bridge of bridges) {
    const listed = await bridge.call("list_memories", { limit: 100, max_tokens: 50_000 });
    expect(JSON.stringify(listed).match(/mem_[0-9a-f]{32} · /g)).toHaveLength(2 + 2 * calls);
  }
  expect(readOwner(dataDir)).toMatchObject({ pid: server.pid, isBackground: false });

  const second = start(dataDir, "serve");
  expect(await second.exited).toBe(1);
  expect(await second.stderr.text()).toContain(`is served by process ${server.pid}`);

  for (const bridge of bridges) expect(await bridge.end()).toBe(0);
  server.kill();
  expect(await server.exited).toBe(0);
});
