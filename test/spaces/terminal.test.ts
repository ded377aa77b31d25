import { beforeAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { createDataFolders, initialize, textOf } from "../mcp/support/bridges.ts";
import { startBridge } from "../support/bridge.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";

// These start programs, and a server that loads the model.

const { newFolder, shared: dataDir } = createDataFolders();
const env = { HOME: "/nonexistent", CTXD_CACHE_DIR: testCacheDir, CTXD_PORT: "0" };
const run = (...args: string[]) => ctxd(args, { dataDir, env });
const found = async (...args: string[]) => {
  const { stdout } = await run("search", "--json", "--guesses", "--all-projects", "boat", ...args);
  const { memories } = JSON.parse(stdout) as { memories: { id: string; content: string }[] };
  return memories.map(({ content }) => content).sort();
};

/** The owner of the machine, in the space Büro. */
beforeAll(async () => {
  mkdirSync(dataDir);
  await ctxd(["user", "add", "ann@example.com"], { dataDir, env, input: "correct horse battery" });
  const made = await run("space", "create", "Büro", "--user", "ann@example.com");
  expect(made.exitCode).toBe(0);
  await run("space", "project", "Büro", "--add", "acme/web");
  await run("save", "--no-project", "The boat is mine.");
});

test("commands work in the space that --space names", async () => {
  const saved = await run("save", "--no-project", "--space", "Büro", "The boat is blue.");
  expect(saved.stderr).toContain("Saved in the space Büro.");
  const byProject = await run("save", "--project", "acme/web", "The boat is green.");
  expect(byProject.stderr).toContain("Saved in the project acme/web in the space Büro.");
  const ofSpace = ["The boat is blue.", "The boat is green."];
  expect(await found()).toEqual([...ofSpace, "The boat is mine."].sort());
  expect(await found("--space", "Büro")).toEqual(ofSpace);
  expect(await found("--space", "personal")).toEqual(["The boat is mine."]);
  const shown = await run("search", "--guesses", "--all-projects", "--space", "Büro", "boat");
  expect(shown.stdout).toContain("in the space Büro");
  const status = await run("status", "--json", "--space", "Büro");
  expect(JSON.parse(status.stdout)).toMatchObject({ memories: 2 });
  expect((await run("recall", "--space", "Büro", "--project", "acme/web")).stdout).toContain(
    "green",
  );
  expect(
    (await run("recall", "--space", "personal", "--project", "acme/web")).stdout,
  ).not.toContain("green");

  const file = join(temporaryFolder(), "memories.jsonl");
  expect((await run("export", file, "--space", "Büro")).stderr).toContain("Exported 2 memories");
  const [id = ""] = saved.stdout.split("\n");
  const moved = await run("move", id, "--space", "Büro", "--to", "acme/web", "--yes");
  expect(moved.stderr).toContain("Moved to the project acme/web: 1 memory.");
  const forgotten = await run("forget", "--project", "acme/web", "--space", "Büro", "--yes");
  expect(forgotten.stderr).toContain("Deleted: 2 memories.");
  expect((await run("import", file, "--space", "Büro")).exitCode).toBe(0);
  expect(await found("--space", "Büro")).toEqual(ofSpace);
  expect((await run("forget", id, "--space", "Büro", "--yes")).stderr).toContain(
    "Deleted: 1 memory.",
  );

  const unknown = await run("save", "--space", "Buero", "Lost.");
  expect(unknown).toMatchObject({ exitCode: 1, stdout: "" });
  expect(unknown.stderr).toBe(
    "ctxd: You are not a member of a space with this name. Yours: Büro.\n",
  );
});

test("a local agent chooses a space, or is restricted to one by --space", async () => {
  const toolsOf = async (...args: string[]) => {
    const bridge = startBridge(dataDir, ...args);
    bridge.send(initialize);
    await bridge.next();
    bridge.send({ id: 1, method: "tools/list" });
    const tools = textOf(await bridge.next());
    return { bridge, takesSpace: tools.includes('"space":{') };
  };
  const free = await toolsOf();
  expect(free.takesSpace).toBe(true);
  const restricted = await toolsOf("--space", "Büro");
  expect(restricted.takesSpace).toBe(false);
  const saved = await restricted.bridge.call("save_memory", { content: "The mast is tall." });
  expect(textOf(saved)).toContain("in the space Büro: its members see it");
  const own = await free.bridge.call("save_memory", { content: "The mast is mine." });
  expect(textOf(own)).not.toContain("in the space");
  const inside = await restricted.bridge.call("search_memories", { query: "mast" });
  expect(textOf(inside)).toContain("tall");
  expect(textOf(inside)).not.toContain("mine");
  const unknown = startBridge(dataDir, "--space", "Buero");
  expect(textOf(await unknown.call("list_memories", {}))).toContain("Yours: Büro.");
  expect(await Promise.all([free.bridge.end(), restricted.bridge.end(), unknown.end()])).toEqual([
    0, 0, 0,
  ]);
});

test("a bridge with --space sends nothing to a server that knows no spaces", async () => {
  const folder = newFolder();
  mkdirSync(folder);
  const asked: string[] = [];
  const earlier = Bun.serve({
    unix: join(folder, "ctxd.sock"),
    fetch({ url }) {
      asked.push(new URL(url).pathname);
      const body = new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array([10])) });
      return new Response(body, { headers: { "ctxd-version": version } });
    },
  });
  const bridge = startBridge(folder, "--space", "acme");
  const answer = await bridge.call("list_memories", {});
  expect(textOf(answer)).toContain("can't limit an agent to a project or a space");
  expect(asked).not.toContain("/mcp");
  expect(await bridge.end()).toBe(0);
  await earlier.stop(true);
});

test.each(["project", "space"])("--%s of a remote agent is that of its key", async (bound) => {
  const refused = await run("mcp", "--url", "https://memory.example.com", `--${bound}`, "acme");
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
  expect(refused.stderr).toContain(`ctxd key create --${bound} NAME`);
});
