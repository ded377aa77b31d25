import { beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ctxd, ctxdInTerminal, type Surroundings } from "../support/command-line.ts";
import { testCacheDir } from "../support/embedder.ts";
import { temporaryHome } from "../support/temporary-home.ts";

const { home: root, dataDir } = temporaryHome();
const home = join(root, "home");
const env = { HOME: home, CTXD_CACHE_DIR: testCacheDir, CTXD_PORT: "0" };
/** Folders of two projects and one without a project. */
const folders = { shop: project("acme/shop"), blog: project("acme/blog"), none: home };
mkdirSync(join(home, ".cursor"), { recursive: true });
mkdirSync(dataDir);
// A repository in the home folder, for settings, does not make it a project.
mkdirSync(join(home, ".git"));
writeFileSync(join(home, ".git", "HEAD"), "ref: refs/heads/main\n");

beforeAll(async () => {
  const { stdout } = await run(["status", "--json"]);
  expect(JSON.parse(stdout).server).toMatchObject({ was_running: false, background: true });
});

/** Creates a git repository with an origin. */
function project(name: string): string {
  const folder = join(root, name, "src");
  const git = join(root, name, ".git");
  mkdirSync(folder, { recursive: true });
  mkdirSync(git);
  writeFileSync(join(git, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(git, "config"), `[remote "origin"]\n\turl = git@example.com:${name}.git\n`);
  return folder;
}

/** Runs a command in a folder. The first command starts the server. */
const run = (
  args: string[],
  { cwd = folders.none, input = "" }: Pick<Surroundings, "cwd" | "input"> = {},
) => ctxd(args, { dataDir, env, cwd, input });

/** The texts that a search in a folder finds. */
async function contentsFound(args: string[], cwd = folders.none): Promise<string[]> {
  const { stdout } = await run(["search", "--json", ...args], { cwd });
  const { memories } = JSON.parse(stdout) as { memories: { content: string }[] };
  return memories.map(({ content }) => content);
}

async function save(...args: string[]): Promise<string> {
  return (await run(["save", ...args])).stdout.trim();
}

test("memories of a project are found in it, memories without a project everywhere", async () => {
  const saved = await run(["save", "The shop is deployed on Mondays"], { cwd: folders.shop });
  expect(saved).toEqual({
    stdout: expect.stringMatching(/^mem_[0-9a-f]{32}\n$/),
    stderr: "Saved in the project acme/shop.\n",
    exitCode: 0,
  });
  await run(["save", "The blog is deployed on Fridays"], { cwd: folders.blog });
  const own = await run(["save", "--no-project", "Sam is allergic to peanuts"], {
    cwd: folders.blog,
  });
  expect(own.stderr).toBe("Saved.\n");

  const deployed = ["--guesses", "when is it deployed"];
  expect(await contentsFound(deployed, folders.shop)).toEqual([
    "The shop is deployed on Mondays",
    "Sam is allergic to peanuts",
  ]);
  expect(await contentsFound([...deployed, "--all-projects"], folders.shop)).toHaveLength(3);
  expect(await contentsFound([...deployed, "--project", "acme/blog"], folders.shop)).toContain(
    "The blog is deployed on Fridays",
  );

  const { stdout, exitCode } = await run(["search", "--limit", "1", "which food makes him ill?"], {
    cwd: folders.shop,
  });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^mem_\w+ · score 0\.\d+ · .*\n {2}Sam is allergic to peanuts\n$/);
});

test("a search without results prints only a message, and weak matches on request", async () => {
  const words = ["distance", "from", "the", "moon", "to", "mars"];
  expect(await run(["search", ...words])).toEqual({
    stdout: "",
    stderr: "Nothing is known about that.\n",
    exitCode: 0,
  });
  expect(await contentsFound(words)).toEqual([]);
  expect(await contentsFound(["--guesses", "--limit", "2", ...words])).toHaveLength(2);
});

test("piped text is saved unchanged, and can be searched for", async () => {
  const text = "# Release\n\n- built by Ada\n- reviewed by Bob";
  const piped = await run(["save", "--json", "--tag", "release", "--tag", "ci", "--pin"], {
    input: `\n${text}\n\n`,
  });
  const saved = JSON.parse(piped.stdout);
  expect(saved).toMatchObject({ content: text, tags: ["release", "ci"], pinned: true });
  const dash = await run(["search", "-", "--tag", "ci"], { input: "who built the release?\n" });
  expect(dash.stdout).toContain(saved.id);
  await run(["forget", saved.id, "--yes"]);
});

test.each([
  ["nothing to save", ["save"], "", "There is nothing to save"],
  ["white space", ["save", "-"], " \n\t\n", "There is nothing to save"],
  ["bytes that are no text", ["save", "-"], new Uint8Array([255, 254]), "is not text in UTF-8"],
  ["a search without words", ["search"], "", "There is nothing to search for"],
  ["two projects", ["search", "a", "--project", "b", "--all-projects"], "", "not both"],
  ["a tag with a comma", ["save", "a", "--tag", "b,c"], "", "must not contain a comma"],
  ["an importance over 1", ["save", "a", "--importance", "2"], "", "from 0 to 1"],
  ["nothing to forget", ["forget", "--yes"], "", "Say what to forget"],
  ["words without a terminal", ["forget", "tea", "--yes"], "", "run this in a terminal"],
  [
    "words and a filter",
    ["forget", "tea", "--tag", "x", "--yes"],
    "",
    "Use ids, words, or options",
  ],
  ["no consent", ["forget", "--tag", "food"], "", "needs --yes"],
  ["words from a pipe", ["forget", "-", "--yes"], "all of it\n", "In a script, give ids"],
  ["history of a filter", ["forget", "--tag", "x", "--history", "--yes"], "", "--history needs"],
  ["nowhere to move to", ["move", "--tag", "food", "--yes"], "", "Say where to"],
  ["two places", ["move", "--tag", "a", "--to", "b", "--to-none", "--yes"], "", "Say where to"],
])("%s is wrong usage", async (_, args, input, message) => {
  const refused = await run(args, { input });
  expect(refused).toMatchObject({ stdout: "", exitCode: 2 });
  expect(refused.stderr).toContain(message);
});

test("a save reports memories that may be outdated", async () => {
  const old = await save("Lee lives in Bern");
  const { stdout, stderr } = await run(["save", "Lee lives in Basel since May"]);
  expect(stderr).toStartWith("Saved.\nMay be outdated: ");
  expect(stderr).toContain(`${old} (Lee lives in Bern)`);
  await run(["forget", old, stdout.trim(), "--yes"]);
});

test("a new version replaces the old one, and history shows both", async () => {
  const old = await save("Kim works at Acme");
  const { stdout, stderr } = await run(["save", "Kim works at Globex", "--supersedes", old]);
  expect(stderr).not.toContain(old);
  const now = stdout.trim();
  expect(await contentsFound(["where does Kim work"])).toEqual(["Kim works at Globex"]);
  expect(await contentsFound(["--history", "where does Kim work"])).toHaveLength(2);
  const both = await run(["forget", now, "--history", "--yes", "--json"]);
  expect(both.exitCode).toBe(0);
  expect(await contentsFound(["--history", "where does Kim work"])).not.toContain(
    "Kim works at Acme",
  );
});

test("a search as of a day finds what was known then", async () => {
  const [old, now] = [1, 2].map((number) => `mem_${String(number).padStart(32, "0")}`);
  const lines = [
    { id: old, content: "Leo plays the piano", created_at: "2020-01-01T12:00:00Z" },
    {
      id: now,
      content: "Leo plays the cello",
      created_at: "2020-03-03T12:00:00Z",
      supersedes: old,
    },
  ].map((line) => JSON.stringify(line));
  await run(["import", "-"], { input: lines.join("\n") });
  const found = (...args: string[]) => contentsFound([...args, "what does Leo play"]);
  expect(await found()).toEqual(["Leo plays the cello"]);
  expect(await found("--as-of", "2020-03-03")).toEqual(["Leo plays the cello"]);
  expect(await found("--as-of", "2020-03-03T11:59:00Z")).toEqual(["Leo plays the piano"]);
  expect(await found("--as-of", "2020-03-02")).toEqual(["Leo plays the piano"]);
  expect(await found("--as-of", "2999-01-01")).toEqual(["Leo plays the cello"]);
  const text = await run(["search", "--as-of", "2020-02-01", "what does Leo play"]);
  expect(text.stdout).toContain(`superseded by ${now}`);
  const before = await run(["search", "--as-of", "2019-12-31", "what does Leo play"]);
  expect(before).toEqual({
    stdout: "",
    stderr: "Nothing was known about that.\n",
    exitCode: 0,
  });
  const wrong = await run(["search", "--as-of", "yesterday", "what does Leo play"]);
  expect(wrong.stderr).toContain("must be a moment such as 2026-11-21T07:00:00Z or a date");
  expect(wrong.exitCode).toBe(2);
});

test("forget accepts the ids of all versions of one memory", async () => {
  const old = await save("Mia drinks tea");
  const { stdout: now } = await run(["save", "Mia drinks coffee", "--supersedes", old]);
  const forgotten = await run(["forget", now.trim(), old, "--history", "--yes"]);
  expect(forgotten).toMatchObject({ exitCode: 0 });
  expect(await contentsFound(["--history", "what does Mia drink"])).toEqual([]);
});

test("forget removes memories by id and by filter, of a project only its own", async () => {
  const [one, two] = [await save("Red is nice"), await save("Blue is nice")];
  expect(await run(["forget", one, two, "--yes"])).toEqual({
    stdout: "",
    stderr: "Deleted: 2 memories.\n",
    exitCode: 0,
  });
  const again = await run(["forget", one, "--yes"]);
  expect(again).toMatchObject({ stdout: "", exitCode: 1 });
  expect(again.stderr).toContain(`No memory with id ${one}`);

  await run(["save", "Lint before a push", "--project", "acme/tools"]);
  const tools = ["forget", "--project", "acme/tools", "--yes", "--json"];
  expect(JSON.parse((await run(tools)).stdout)).toEqual({ deleted: 1 });
  expect(JSON.parse((await run(tools)).stdout)).toEqual({ deleted: 0 });
  expect(await contentsFound(["--limit", "1", "peanuts"])).toEqual(["Sam is allergic to peanuts"]);
});

test("memories move to another project: all of one project, or ids from a pipe", async () => {
  const [one, two] = [
    await save("Tests run twice", "--project", "tools"),
    await save("Builds are signed", "--project", "tools"),
  ];
  const moved = await run(["move", "--project", "tools", "--to", "acme/kit", "--yes"]);
  expect(moved).toEqual({
    stdout: "",
    stderr: "Moved to the project acme/kit: 2 memories.\n",
    exitCode: 0,
  });
  const out = await run(["move", "-", "--to-none", "--yes", "--json"], { input: `${one}\n` });
  expect(JSON.parse(out.stdout)).toEqual({ moved: 1 });
  const kit = ["forget", "--project", "acme/kit", "--yes", "--json"];
  expect(JSON.parse((await run(kit)).stdout)).toEqual({ deleted: 1 });
  expect((await run(["forget", two, "--yes"])).exitCode).toBe(1);
  expect((await run(["forget", "-", "--yes"], { input: one })).exitCode).toBe(0);
});

test("in a terminal forget lists the matches of the words to choose from", async () => {
  const id = await save("The old staging server is called Lisa");
  const terminal = { dataDir, env };
  const words = ["forget", "old", "staging", "server"];
  const declined = await ctxdInTerminal(words, [["Which?", "\r"]], terminal);
  expect(declined).toMatchObject({ exitCode: 1 });
  const { screen, exitCode } = await ctxdInTerminal(
    words,
    [
      ["Which?", "1\r"],
      ["permanently?", "y\r"],
    ],
    terminal,
  );
  expect({ screen, exitCode }).toMatchObject({ exitCode: 0 });
  expect(screen).toContain(`1. ${id}`);
  expect((await run(["forget", id, "--yes"])).exitCode).toBe(1);
});

test("status shows the server, the project and the agents", async () => {
  const { stdout, exitCode } = await run(["status", "--json"], { cwd: folders.shop });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    data_dir: dataDir,
    server: { was_running: true, background: true },
    activity: expect.any(Array),
    memories: expect.any(Number),
    project: { name: "acme/shop", memories: expect.any(Number) },
    agents: [{ id: "cursor", name: "Cursor", connected: false }],
  });
  const text = (await run(["status"])).stdout;
  expect(text).toMatch(/^server {4}runs, in the background, /);
  expect(text).toContain("Cursor not connected (ctxd connect --all)");
  expect(text).not.toContain("\nproject");
});

test("health finds the server of the folder without a port, and open prints the dashboard's address", async () => {
  const health = await run(["health", "--json"]);
  expect(JSON.parse(health.stdout)).toMatchObject({ status: "ok" });
  const opened = await run(["open", "--json"]);
  const { address } = JSON.parse(opened.stdout);
  expect(address).toMatch(/^http:\/\/localhost:\d+$/);
  expect((await run(["health"])).stderr).toStartWith(`${address}: ok (`);
});

test("a remote server needs a key from standard input, so the text can't come from there", async () => {
  const key = (await run(["key", "create", "--user", "local@localhost", "--name", "elsewhere"]))
    .stdout;
  const { address } = JSON.parse((await run(["open", "--json"])).stdout);
  const remote = ["--url", address];
  const saved = await run(["save", "Tides follow the moon", ...remote], { input: key });
  expect(saved).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^mem_/) });
  const found = await run(["search", "--limit", "1", "tides", ...remote], { input: key });
  expect(found.stdout).toContain("· by elsewhere\n  Tides follow the moon\n");
  const refused = await run(["save", "-", ...remote], { input: key });
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
  expect(refused.stderr).toContain("Standard input is the API key");
});

test("an unknown command is answered with the nearest one, and an alias has help", async () => {
  const refused = await ctxd(["serach", "tea"]);
  expect(refused).toMatchObject({ stdout: "", exitCode: 2 });
  expect(refused.stderr).toStartWith("ctxd: unknown command 'serach'\nDid you mean search?\n");
  expect((await ctxd(["help", "open"])).stdout).toStartWith("Usage: ctxd dashboard|open [options]");
  const words = (await ctxd(["complete", "--", "open", "--no"])).stdout;
  expect(words).toBe("--no-browser\n");
});
