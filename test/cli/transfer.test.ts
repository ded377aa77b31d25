import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine, ctxd, ctxdInTerminal } from "../support/command-line.ts";
import { testCacheDir } from "../support/embedder.ts";
import { pdf } from "../support/pdf.ts";
import { addAccountTo, serving } from "../support/server-process.ts";
import { claudeCodeLines, writeTranscript } from "../support/transcripts.ts";
import { until } from "../support/until.ts";

const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const dataDir = join(root, "data");
const env = { CTXD_CACHE_DIR: testCacheDir, TZ: "America/New_York" };
let server: Awaited<ReturnType<typeof serving>>;
/** The keys of the owner and of another account. */
let keys: { owner: string; other: string };

beforeAll(async () => {
  keys = {
    owner: (await addAccountTo(dataDir)).key,
    other: (await addAccountTo(dataDir, "other@example.com")).key,
  };
  server = await serving(dataDir);
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

const run = (args: string[], input?: string) =>
  ctxd(args, { dataDir, env, ...(input !== undefined && { input }) });
const file = (name: string, content: string) => {
  writeFileSync(join(root, name), content);
  return join(root, name);
};
const linesOf = (path: string) => readFileSync(path, "utf8").trim().split("\n");

test("imported memories are exported unchanged, also after an import into an empty folder", async () => {
  const user = ["--user", "other@example.com"];
  const text = file("list.md", "# Food\n- Likes tea\n- Hates coffee\n");
  const first = await run(["import", text, ...user]);
  expect(first).toEqual({ stdout: "", stderr: "From text: 2 new.\n", exitCode: 0 });
  const again = await run(["import", text, ...user]);
  expect(again.stderr).toBe("From text: 0 new, 2 here already.\n");

  const path = join(root, "other.jsonl");
  expect(await run(["export", path, ...user])).toEqual({
    stdout: "",
    stderr: `Exported 2 memories to ${path}.\n`,
    exitCode: 0,
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect((await server.client(keys.other).list()).memories).toHaveLength(2);
  expect((await server.client(keys.owner).list()).memories).toHaveLength(0);
  const toOutput = await run(["export", "-", ...user]);
  expect(toOutput.stdout).toBe(readFileSync(path, "utf8"));

  // No server uses this folder, so the command starts one.
  const empty = join(root, "empty");
  const options = { dataDir: empty, env: { ...env, CTXD_PORT: "0" } };
  const moved = await ctxd(["import", path], options);
  expect(moved).toMatchObject({ stderr: "From an export of ctxd: 2 new.\n", exitCode: 0 });
  const second = await ctxd(["export", "-"], options);
  expect(second.stdout).toBe(readFileSync(path, "utf8"));
  process.kill(JSON.parse(readFileSync(join(empty, "owner.json"), "utf8")).pid);
});

test("only requests over the socket can name an account", async () => {
  const { id } = JSON.parse((await run(["user", "list", "--json"])).stdout).at(-1);
  const ask = async (account: string, way: object) => {
    const headers = { "ctxd-account": account };
    return (await fetch(`${server.origin}/api/memories/export`, { headers, ...way })).status;
  };
  const bySocket = { unix: join(dataDir, "ctxd.sock") };
  expect(await ask(id, bySocket)).toBe(200);
  expect(await ask("acc_00000000000000000000000000000000", bySocket)).toBe(401);
  expect(await ask(id, {})).toBe(401);
});

test("a dry run changes nothing, and standard input is read too", async () => {
  const dry = await run(["import", "-", "--dry-run"], "One.\n\nTwo.\n");
  expect(dry).toEqual({
    stdout: "",
    stderr: "Nothing was changed. From text: 2 new.\n",
    exitCode: 0,
  });
  expect((await server.client(keys.owner).list()).memories).toHaveLength(0);
});

test("lines that can't be imported are listed, and the exit code is 1", async () => {
  const good = { content: "Fine." };
  const lines = [good, { content: "" }, good, "x"].map((value) => JSON.stringify(value));
  const path = file("some.jsonl", lines.join("\n"));
  const { stdout, stderr, exitCode } = await run(["import", path, "--user", "other@example.com"]);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 1 });
  expect(stderr.split("\n")).toEqual([
    "From an export of ctxd: 1 new, 1 here already.",
    "  line 2: content must not be empty",
    "  line 4: the request must be a JSON object",
    "ctxd: 2 places can't be imported.",
    "",
  ]);
});

test.each([
  [["import", "/nonexistent.txt"], "/nonexistent.txt does not exist."],
  [["import", process.execPath], "is binary, not text."],
  [["import", "-", "--user", "nobody@example.com"], "No account has this e-mail address"],
  [
    ["export", join(root, "none", "a.jsonl")],
    "none: create it, or choose another. Nothing was exported.",
  ],
  [["export", tmpdir()], "is a folder"],
  [
    ["import", file("broken.json", '{\n"a": [1,\n}')],
    "broken.json is broken JSON in line 3: correct it there",
  ],
  [
    ["import", file("cut.json", '{\n"a": [1,\n')],
    "cut.json is cut off in line 3: correct it there",
  ],
  [
    ["import", file("other.json", "not JSON")],
    "other.json is broken JSON in line 1: correct it there",
  ],
  [
    ["import", file("lines.json", '{"a": 1}\n{"b": 2}\n')],
    "lines.json is JSON in an unknown format",
  ],
  [["import", file("none.md", "\n")], "Nothing was imported: "],
  [["import", file("none.md", "\n")], "none.md contains no memories."],
  [["import", "-"], "Nothing was imported: Standard input contains no memories."],
  [["import", "--from", "codex"], "There are no conversations of codex on this machine"],
])("%p is refused in one line", async (args, text) => {
  const { stdout, stderr, exitCode } = await run(args);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 1 });
  expect(stderr).toMatch(/^ctxd: [^\n]+\n$/);
  expect(stderr).toContain(text);
});

test.skipIf(process.platform !== "linux")("a folder that takes no new files is named", async () => {
  expect(await run(["export", "/proc/memories.jsonl"])).toMatchObject({
    stderr: "ctxd: No file can be made in /proc: choose another folder. Nothing was exported.\n",
    exitCode: 1,
  });
});

test("each file of an unknown format is reported, and the exit code is 1", async () => {
  const empty = await run(["import", file("empty.md", "\n\n")]);
  expect(empty).toEqual({
    stdout: "",
    stderr: `ctxd: Nothing was imported: ${join(root, "empty.md")} contains no memories. \`ctxd import --help\` lists what can be imported.\n`,
    exitCode: 1,
  });
  const unknown = file("unknown.json", '{"openapi": "3.1.0"}');
  const none = await run(["import", unknown, file("none.csv", "id,text\n")]);
  expect(none.exitCode).toBe(1);
  expect(none.stderr.split("\n").slice(0, 3)).toEqual([
    `Not read: ${join(root, "none.csv")} contains no memories.`,
    `Not read: ${unknown} is JSON in an unknown format: ctxd import --help lists what can be imported.`,
    "ctxd: Nothing was imported. `ctxd import --help` lists what can be imported.",
  ]);
  const some = await run(["import", unknown, file("one.txt", "Known."), "--dry-run"]);
  expect(some).toMatchObject({ exitCode: 0 });
  expect(some.stderr).toEndWith("Nothing was changed. From text: 1 new.\n");
});

test("a damaged PDF is reported, also when its library has further errors", async () => {
  const whole = pdf([["Bees hum."], ["Tea is hot."]]).toString("latin1");
  const damaged = whole.replace("[4 0 R 6 0 R]", "[4 0\x16R 6 0 R]").replace("6 0 obj", "6 0 olj");
  const path = join(root, "damaged.pdf");
  writeFileSync(path, Buffer.from(damaged, "latin1"));
  const { stderr, exitCode } = await run(["import", path, "--dry-run"]);
  expect({ lines: stderr.split("\n"), exitCode }).toEqual({
    lines: ["  page 1: is damaged", "ctxd: 1 place can't be imported.", ""],
    exitCode: 1,
  });
});

test("a preview shows the first memories and changes nothing", async () => {
  const path = file("atlas.md", "# Atlas\n## Decisions\n- We use Bun\n- We use \u001b[31mred\n");
  const { stderr, exitCode } = await run(["import", path, "--preview", "--project", "atlas"]);
  expect({ lines: stderr.split("\n"), exitCode }).toEqual({
    lines: [
      "  Atlas › Decisions: We use Bun (atlas, #Decisions)",
      "  Atlas › Decisions: We use \ufffd[31mred (atlas, #Decisions)",
      "Nothing was changed. From text: 2 new.",
      "",
    ],
    exitCode: 0,
  });
  expect((await server.client(keys.owner).list()).memories).toHaveLength(0);
});

test("the stored sessions of an agent are imported by the agent's name", async () => {
  const home = join(root, "home");
  const turns = [{ user: "Which database?", assistant: "PostgreSQL." }];
  for (const session of ["s-1", "s-2"]) {
    const path = join(home, ".claude", "projects", "atlas", `${session}.jsonl`);
    writeTranscript(path, claudeCodeLines(session, "/home/sam/atlas", turns));
  }
  const inHome = { dataDir, env: { ...env, HOME: home } };
  const user = ["--user", "other@example.com"];
  const args = ["import", "--from", "claude-code", ...user];
  expect(await ctxd(args, inHome)).toEqual({
    stdout: "",
    stderr: "From a transcript of Claude Code (2 files): 4 new.\n",
    exitCode: 0,
  });
  const again = await ctxd(args, inHome);
  expect(again.stderr).toEndWith("(2 files): 0 new, 4 here already.\n");
  expect(await ctxd(["import", "--from", "claude-code", "x.md"], inHome)).toMatchObject({
    exitCode: 2,
  });
  expect(await ctxd(["import"], inHome)).toMatchObject({ exitCode: 2 });
  const none = await ctxd(["import", "--from", "codex"], inHome);
  expect(none).toMatchObject({ exitCode: 1 });
  expect(none.stderr).toMatch(/^ctxd: [^\n]*codex[^\n]*\n$/);
});

test("a killed import continues when it is repeated, and creates no memory twice", async () => {
  const count = 900;
  const text = Array.from({ length: count }, (_, n) => `Note ${n} is about bee hive ${n * 7}.`);
  const path = file("many.txt", text.join("\n"));
  const client = server.client(keys.owner);
  const child = Bun.spawn(commandLine(["import", path], { dataDir }), {
    env: { HOME: "/nonexistent", ...env },
    stdout: "ignore",
    stderr: "ignore",
  });
  await until("a memory is imported", async () => (await client.list()).memories.length > 0);
  child.kill("SIGKILL");
  await child.exited;
  const { stderr, exitCode } = await run(["import", path]);
  const [, created, there] = /^From text: (\d+) new, (\d+) here already\.\n$/.exec(stderr) ?? [];
  expect({ exitCode, sum: Number(created) + Number(there) }).toEqual({ exitCode: 0, sum: count });
  expect(Number(there)).toBeGreaterThan(0);
  const exported = join(root, "many.jsonl");
  await run(["export", exported]);
  const contents = linesOf(exported).map((line) => JSON.parse(line).content);
  expect(contents.toSorted()).toEqual(text.toSorted());
});

test("an export is not written as another kind of file", async () => {
  const path = join(root, "memories.csv");
  const refused = await run(["export", path]);
  const reason =
    "An export is JSON, one memory a line, and no .csv file: give it a name such as memories.jsonl.";
  expect(refused).toEqual({ stdout: "", stderr: `ctxd: ${reason}\n`, exitCode: 2 });
  expect(existsSync(path)).toBe(false);
});

test("in a terminal, an export asks before it replaces a file", async () => {
  const path = join(root, "kept.jsonl");
  writeFileSync(path, "mine");
  const question = `Replace ${path}?`;
  const answered = (answer: string) =>
    ctxdInTerminal(["export", path], [[question, `${answer}\n`]], { dataDir, env });
  expect(await answered("n")).toMatchObject({ exitCode: 1 });
  expect(readFileSync(path, "utf8")).toBe("mine");
  expect(await answered("y")).toMatchObject({ exitCode: 0 });
  expect(readFileSync(path, "utf8")).not.toBe("mine");
});

test("an interrupted export leaves the previous file unchanged", async () => {
  const path = file("kept.jsonl", "former\n");
  const child = Bun.spawn(commandLine(["export", path], { dataDir }), {
    env: { HOME: "/nonexistent", ...env },
    stdout: "ignore",
    stderr: "ignore",
  });
  await until(
    "the export has begun",
    () => existsSync(`${path}.unfinished`) || child.exitCode !== null,
  );
  child.kill("SIGTERM");
  const isDone = (await child.exited) === 0;
  expect(linesOf(path)[0] === "former").toBe(!isDone);
  expect(existsSync(`${path}.unfinished`)).toBe(false);
});

test("a remote server is reached by its address and a key", async () => {
  const url = ["--url", `${server.origin}/`];
  const text = file("elsewhere.txt", "Said elsewhere.");
  expect(await run(["import", text, ...url], `${keys.other}\n`)).toEqual({
    stdout: "",
    stderr: "From text: 1 new.\n",
    exitCode: 0,
  });
  const { stdout } = await run(["export", "-", ...url], keys.other);
  expect(stdout).toContain("Said elsewhere.");
  expect(await run(["export", "-", ...url], "ctx_wrong")).toEqual({
    stdout: "",
    stderr: "ctxd: The API key or token is unknown, revoked or expired.\n",
    exitCode: 1,
  });
  const both = await run(["import", text, ...url, "--user", "other@example.com"], keys.other);
  expect(both).toMatchObject({ stdout: "", exitCode: 2 });
  expect(await run(["import", "-", ...url], keys.other)).toMatchObject({ exitCode: 2 });
  const clear = await run(["export", "-", "--url", "http://memory.example.com"], keys.other);
  expect(clear.stderr).toStartWith(
    "ctxd: The key would reach http://memory.example.com unencrypted: use https",
  );
});

test("an export to a link, a pipe or a device does not replace it", async () => {
  const path = file("linked.jsonl", "");
  symlinkSync(path, join(root, "link.jsonl"));
  expect(await run(["export", join(root, "link.jsonl")])).toMatchObject({ exitCode: 0 });
  expect(lstatSync(join(root, "link.jsonl")).isSymbolicLink()).toBe(true);
  expect(linesOf(path).length).toBeGreaterThan(800);
  const pipe = join(root, "pipe");
  Bun.spawnSync(["mkfifo", pipe]);
  const reader = Bun.spawn(["cat", pipe]);
  expect(await run(["export", pipe])).toMatchObject({ exitCode: 0 });
  expect((await reader.stdout.text()) === readFileSync(path, "utf8")).toBe(true);
  const full = await run(["export", "/dev/full"]);
  expect(full.stderr).toBe("ctxd: The disk of /dev/full is full. Nothing was exported.\n");
  expect(statSync("/dev/full").isCharacterDevice()).toBe(true);
});

test("in a terminal a short import prints one line", async () => {
  mkdirSync(join(root, "notes"));
  writeFileSync(join(root, "notes", "a.md"), "One note.\n");
  const { screen, exitCode } = await ctxdInTerminal(["import", join(root, "notes")], [], {
    dataDir,
    env,
  });
  expect({ screen: screen.trim(), exitCode }).toEqual({
    screen: "From notes in Markdown: 1 new.",
    exitCode: 0,
  });
});
