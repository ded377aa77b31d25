import { afterEach, expect, spyOn, test } from "bun:test";
import { version } from "../../package.json" with { type: "json" };
import { sendFromHook, sendWhenServed } from "../../src/cli/hooks.ts";
import { readConfig } from "../../src/config/config.ts";
import { lockDataFolder } from "../../src/db/data-lock.ts";
import { createLocalSocket } from "../../src/local/local-socket.ts";
import { noDashboard } from "../mcp/support/bridges.ts";
import { afterThisTest, temporaryFolder } from "../support/database.ts";
import { until } from "../support/until.ts";

const RECALL = "/api/memories/recall";
const requests = spyOn(globalThis, "fetch");
afterEach(() => void requests.mockClear());

/** The settings of a data folder that a process has locked, as a server does that starts. */
function startingServer() {
  const env = { HOME: temporaryFolder() };
  const dataDir = temporaryFolder();
  afterThisTest(lockDataFolder(dataDir, version, true).release);
  return { env, config: readConfig(env, { CTXD_DATA_DIR: dataDir }) };
}

function listen(dataDir: string) {
  const open = createLocalSocket({ ownerId: async () => "acc_1" }).listen(dataDir, {
    version,
    answer: async (request) => Response.json({ text: `for ${await request.text()}` }),
    openDashboard: noDashboard,
  });
  afterThisTest(open.close);
  return open;
}

test("a hook that finds a server starting waits for it, and is answered", async () => {
  const { config, env } = startingServer();
  const answered = sendWhenServed(config, env, RECALL, { prompt: "x" });
  // The request itself, and then looks for the server.
  await until("it has looked twice", () => requests.mock.calls.length > 2);
  const open = listen(config.dataDir);
  expect(await answered).toEqual({ text: 'for {"prompt":"x"}' });
  await until("it has gone", () => open.bridges() === 0);
});

test("a hook does not wait for a server that takes longer", async () => {
  const { config, env } = startingServer();
  expect(await sendWhenServed(config, env, RECALL, {})).toBeNull();
});

test("a hook that saves does not wait at all", async () => {
  const { config } = startingServer();
  expect(await sendFromHook(config, "/api/memories/capture", {})).toBeNull();
  expect(requests).toHaveBeenCalledTimes(1);
});

test("a server learns from a hook that an agent has hooks, and from nobody else", async () => {
  const { config, env } = startingServer();
  const open = listen(config.dataDir);
  expect(open.isThere()).toBe(true);
  await fetch(`http://localhost${RECALL}`, {
    method: "POST",
    body: "{}",
    unix: `${config.dataDir}/ctxd.sock`,
  });
  expect(open.hasHooks()).toBe(false);
  expect(await sendWhenServed(config, env, RECALL, {})).toEqual({ text: "for {}" });
  expect(open.hasHooks()).toBe(true);
});
