import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopServer } from "../support/bridge.ts";
import { buildExecutable } from "../support/executable.ts";
import { CLIENTS, connectProgram, shownIn } from "../support/mcp.ts";

// The first build compresses 300 MB of libraries, and the first start unpacks them.
setDefaultTimeout(20 * 60_000);

const folder = mkdtempSync(join(tmpdir(), "ctxd-executable-"));
const dataDir = join(folder, "share", "ctxd");

beforeAll(async () => {
  copyFileSync(await buildExecutable(), join(folder, "ctxd"));
});

afterAll(async () => {
  await stopServer(dataDir);
  rmSync(folder, { recursive: true, force: true });
});

test.each(CLIENTS)("the executable alone is a memory for a client of the kind %s", async (name) => {
  await using client = await connectProgram(name, {
    command: join(folder, "ctxd"),
    args: ["mcp", "--agent", name],
    env: {
      XDG_DATA_HOME: join(folder, "share"),
      XDG_CACHE_HOME: join(folder, "cache"),
      CTXD_PORT: "0",
    },
  });
  expect((await client.tools()).length).toBe(7);
  const content = `My daughter is allergic to peanuts, says ${name}.`;
  const { data } = await client.call("save_memory", { content });
  const found = await client.call("search_memories", {
    query: "what food must the child avoid",
    agent_id: name,
  });
  expect(shownIn(found)).toMatchObject([{ id: String(data.id), content }]);
  expect(readdirSync(folder).sort()).toEqual(["cache", "ctxd", "share"]);
});
