import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeLoss, noteDataFolder } from "../../src/cli/server/known-folders.ts";
import { databasePath, isLocked } from "../../src/db/data-lock.ts";
import { initialize, textOf } from "../mcp/support/bridges.ts";
import { program, serverOf, startBridgeIn, stopServer } from "../support/bridge.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { serving } from "../support/server-process.ts";
import { until } from "../support/until.ts";

// Most of these start a program, which starts a server that loads the model.

const home = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const dataDir = join(home, "disk", "data");
const env = { ...program(dataDir).env, HOME: home };
const LOSS = `The memories in ${dataDir} are gone: bring that folder back (is its disk mounted?) or restore a backup (`;

const run = (args: readonly string[], input = "") => ctxd(args, { dataDir, env, input });
const bridge = () => startBridgeIn({ HOME: home }, dataDir);

afterAll(async () => {
  await stopServer(dataDir);
  rmSync(home, { recursive: true, force: true });
});

beforeAll(async () => {
  const first = bridge();
  expect(textOf(await first.call("save_memory", { content: "Sam likes tea." }))).toContain("Saved");
  expect(await first.end()).toBe(0);
  await stopServer(dataDir);
}, 120_000);

/** Takes the folder away, or leaves an empty one, as the place of a disk that is not mounted. */
function lose(isMountPoint: boolean) {
  rmSync(join(home, "disk"), { recursive: true, force: true });
  if (isMountPoint) mkdirSync(dataDir, { recursive: true });
}

test.each([false, true])(
  "a folder that is gone is not begun anew by an agent (mount point left: %p)",
  async (isMountPoint) => {
    lose(isMountPoint);
    const agent = bridge();
    agent.send(initialize);
    expect(await agent.next()).toMatchObject({ id: 0, result: { serverInfo: { name: "ctxd" } } });
    expect(await agent.call("recall_context", {})).toMatchObject({
      error: { message: expect.stringContaining(LOSS) },
    });
    expect(await agent.end()).toBe(0);
    const said = await agent.child.stderr.text();
    expect(said).toStartWith(`ctxd: ${LOSS}`);
    expect(said.trim().split("\n")).toHaveLength(1);

    const event = {
      session_id: "s",
      cwd: home,
      prompt: "tea?",
      hook_event_name: "UserPromptSubmit",
    };
    const recalled = await run(["recall"], JSON.stringify(event));
    expect(recalled).toMatchObject({ stdout: "", exitCode: 0 });
    expect(recalled.stderr).toStartWith(`ctxd: nothing was recalled: ${LOSS}`);
    const turns = [{ role: "user", content: "The gate is open." }];
    const captured = await run(["capture"], JSON.stringify({ session_id: "s", turns }));
    expect(captured).toMatchObject({ stdout: "", exitCode: 0 });
    expect(captured.stderr).toStartWith(`ctxd: nothing was captured: ${LOSS}`);
    const asked = await run(["recall"]);
    expect(asked).toMatchObject({ stdout: "", exitCode: 1 });
    expect(asked.stderr).toStartWith(`ctxd: ${LOSS}`);
    expect(existsSync(dataDir)).toBe(isMountPoint);
  },
);

test("the command that the message names begins anew, and then agents do too", async () => {
  lose(false);
  {
    await using _ = await serving(dataDir);
  }
  const agent = bridge();
  expect(textOf(await agent.call("list_memories", {}))).toContain("There are no memories");
  expect(await agent.end()).toBe(0);
});

test("a server in the background ends when its folder is taken away, and the agent is told", async () => {
  const agent = bridge();
  await agent.call("save_memory", { content: "Sam likes coffee." });
  const pid = serverOf(dataDir);
  lose(false);
  await until("the server has ended", () => !existsSync(`/proc/${pid}`));
  expect(textOf(await agent.call("list_memories", {}))).toContain(LOSS);
  expect(await agent.end()).toBe(0);
  expect(isLocked(dataDir)).toBe(false);
});

test("a file in place of a folder is named in one sentence, to agents, hooks and people", async () => {
  const place = join(temporaryFolder(), "data");
  writeFileSync(place, "");
  const reason = `The database ${databasePath(place)} can't be created because a file is where a folder should be: choose another folder with --data-dir or CTXD_DATA_DIR.`;
  const agent = startBridgeIn({ HOME: home }, place);
  expect(await agent.call("list_memories", {})).toMatchObject({ error: { message: reason } });
  expect(await agent.end()).toBe(0);
  const event = JSON.stringify({ session_id: "s", turns: [{ role: "user", content: "Tea." }] });
  for (const [command, input, said] of [
    ["recall", event, `ctxd: nothing was recalled: ${reason}\n`],
    ["capture", event, `ctxd: nothing was captured: ${reason}\n`],
    ["status", "", `ctxd: ${reason}\n`],
  ] as const) {
    const { stderr } = await ctxd([command], { dataDir: place, env, input });
    expect(stderr).toBe(said);
  }
});

test("the folders that were there are noted once, for the user alone, and the newest of many are kept", () => {
  const own = temporaryFolder();
  const surroundings = { HOME: own };
  const folder = (name: string) => ({ dataDir: join(own, name), shared: null });
  const file = join(own, ".local", "state", "ctxd", "data-folders");
  expect(describeLoss(folder("never\nthere"), surroundings)).toBeNull();
  for (let n = 0; n < 120; n++) noteDataFolder(folder(`of many ${n}`), surroundings);
  for (let n = 0; n < 2; n++) noteDataFolder(folder("never\nthere"), surroundings);
  expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(100);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(describeLoss(folder("of many 1"), surroundings)).toBeNull();
  expect(describeLoss(folder("of many 119"), surroundings)).toContain("restore a backup");
  expect(describeLoss(folder("never\nthere"), surroundings)).toContain("restore a backup");
});

test("without a home folder nothing is noted, and nothing fails", () => {
  const surroundings = { HOME: join(temporaryFolder(), "none") };
  const folder = { dataDir: join(temporaryFolder(), "data"), shared: null };
  noteDataFolder(folder, surroundings);
  expect(describeLoss(folder, surroundings)).toBeNull();
  expect(existsSync(surroundings.HOME)).toBe(false);
});
