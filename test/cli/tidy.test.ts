import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import type { TidyOutcome, TidyReport } from "../../src/memories/rules/tidy/report.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { addAccountTo, serving, untilFlushed } from "../support/server-process.ts";
import { temporaryHome } from "../support/temporary-home.ts";
import { until } from "../support/until.ts";

const { home: root, dataDir } = temporaryHome();
mkdirSync(dataDir);
const env = { HOME: root, CTXD_CACHE_DIR: testCacheDir, CTXD_PORT: "0" };

const run = (...args: string[]) => ctxd(args, { dataDir, env, cwd: root });

test("the command lists what could be tidied, and applies nothing unasked", async () => {
  const day = new Date(Date.now() + 86_400_000).toISOString();
  await run("save", "The demo is frozen.", "--expires", day);
  const listed = await run("tidy", "--kind", "expiring");
  expect(listed.exitCode).toBe(0);
  expect(listed.stdout).toMatch(/^expiring: 1 /);
  expect(listed.stdout).toContain("The demo is frozen.");
  expect((await run("tidy", "--apply", "expiring")).stderr).toContain("--apply needs --yes");
  // It expires anyway.
  const applied = await run("tidy", "--apply", "expiring", "--yes");
  expect(applied).toMatchObject({ exitCode: 0, stderr: "There was nothing to apply.\n" });
  expect((await run("tidy", "--undo", "unknown")).exitCode).toBe(1);
  const { kinds } = JSON.parse((await run("tidy", "--json")).stdout) as TidyReport;
  expect(kinds.expiring).toBe(1);
});

test("--apply leaves a memory that no other project is near, and --undo names each change that it can't undo", async () => {
  const folder = temporaryFolder();
  const { key } = await addAccountTo(folder);
  await using server = await serving(folder);
  const client = server.client(key);
  const long_ago = new Date(Date.now() - 30 * 86_400_000).toISOString();
  const line = { content: "Herons nest in March.", project: "herons", created_at: long_ago };
  await client.send("POST", "/memories/import", {
    body: `${JSON.stringify(line)}\n`,
    headers: { "content-type": "application/x-ndjson" },
  });
  const tidy = (...args: string[]) =>
    ctxd(["tidy", "--user", "you@example.com", ...args], { dataDir: folder });
  expect((await tidy("--kind", "small_projects")).stdout).toContain("Herons");
  const applied = await tidy("--apply", "small_projects", "--yes");
  expect(applied).toMatchObject({
    exitCode: 0,
    stderr:
      "1 memory of small_projects stays: no other project is near.\nThere was nothing to apply.\n",
  });
  const { exitCode, stderr } = await tidy("--undo", "wait_gone", "wait_away");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("wait_gone");
  expect(stderr).toContain("wait_away");
});

test("--apply makes history of what is said twice or outdated, and --undo takes it back in time", async () => {
  const folder = temporaryFolder();
  const { key } = await addAccountTo(folder);
  await using server = await serving(folder);
  const client = server.client(key);
  const tidy = (...args: string[]) =>
    ctxd(["tidy", "--user", "you@example.com", ...args], { dataDir: folder });
  const read = async () => JSON.parse((await tidy("--json")).stdout) as TidyReport;
  const pairs: (readonly [later: string, earlier: string])[] = [];
  for (const [earlier, later] of [
    ["The user prefers tabs over spaces.", "The user prefers tabs to spaces."],
    ["Emil lives in Graz.", "Emil lives in Turku."],
  ] as const) {
    const { id } = await client.save({ content: earlier });
    pairs.push([(await client.save({ content: later })).id, id]);
  }
  await client.save({ content: "The release train leaves every second Tuesday." });
  await untilFlushed(folder);
  const found = await until(
    "the memories are compared",
    async () => {
      const report = await read();
      return report.compared === 1 && report.kinds.contradictions === 1 && report;
    },
    500,
  );
  expect(found.kinds).toMatchObject({ restatements: 1, contradictions: 1 });

  const applied = await tidy("--apply", "--yes");
  const [said = "", id = ""] =
    /^In ten seconds: .*--undo (wait_[\w-]+)\n$/.exec(applied.stderr) ?? [];
  // By its address, as from another machine.
  const undone = await ctxd(["tidy", "--undo", id, "--url", server.origin], { input: key });
  expect(applied).toEqual({ stdout: "", stderr: said, exitCode: 0 });
  expect(said).toContain("2 memories become history. To undo it before then: ctxd tidy --undo");
  expect(undone).toMatchObject({
    stdout: "",
    stderr: expect.stringContaining("Undone. Your memories are as before."),
    exitCode: 0,
  });
  expect((await read()).groups).toEqual(found.groups);

  const { stdout } = await tidy("--apply", "restatements", "contradictions", "--yes", "--json");
  const outcome: TidyOutcome = JSON.parse(stdout);
  expect(outcome).toMatchObject({ superseded: 2, deleted: 0, undo: [expect.any(String)] });
  expect((await tidy("--kind", "restatements")).stderr).toBe("There is nothing to tidy.\n");
  for (const [later, earlier] of pairs) {
    await until("it is superseded", async () => {
      const { superseded_by } = await client.get(earlier);
      return superseded_by === later;
    });
  }
  const late = await tidy("--undo", `${outcome.undo}`);
  expect(late).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("too late") });
  expect((await tidy("--apply", "--yes")).stderr).toBe("There was nothing to apply.\n");
});
