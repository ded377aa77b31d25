import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { databasePath } from "../../src/db/sqlite.ts";
import { checkData } from "../../src/doctor/examine.ts";
import { findModel, prepareModel } from "../../src/embedding/model.ts";
import { assetFolder } from "../../src/native/asset.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { commandLine, ctxd } from "../support/command-line.ts";
import { temporaryFolder, testDatabase } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { listFiles } from "../support/files.ts";
import { addAccountTo, serving } from "../support/server-process.ts";
import { testStores } from "../support/stores.ts";
import { writeWordModel } from "../support/word-model.ts";

const Report = Type.Object({
  ok: Type.Boolean(),
  version: Type.String(),
  checks: Type.Array(
    Type.Object({ check: Type.String(), state: Type.String(), message: Type.String() }),
  ),
});
type Check = Static<typeof Report>["checks"][number];

/** Runs the doctor; gives its exit code, and its findings by what they are about. */
async function examine(dataDir: string, env: Record<string, string> = {}) {
  const { stdout, stderr, exitCode } = await ctxd(["doctor", "--json"], {
    dataDir,
    env: { CTXD_CACHE_DIR: testCacheDir, CTXD_PORT: "0", ...env },
  });
  const report: unknown = JSON.parse(stdout);
  if (!Value.Check(Report, report)) throw new Error(`not a report: ${stdout}`);
  const problems = report.checks.filter(({ state }) => state === "problem");
  expect({ ok: report.ok, exitCode, stderr }).toEqual(
    problems.length === 0
      ? { ok: true, exitCode: 0, stderr: "" }
      : { ok: false, exitCode: 1, stderr: expect.stringMatching(/^ctxd: \d problems?\.\n$/) },
  );
  const found = (about: string): Check => {
    const check = report.checks.find(({ check }) => check.startsWith(about));
    if (!check) throw new Error(`nothing about ${about}: ${stdout}`);
    return check;
  };
  return { found, problems, exitCode };
}

let template: string;
let account: Awaited<ReturnType<typeof addAccountTo>>;

beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  account = await addAccountTo(template);
  await using server = await serving(template);
  await server.client(account.key).saveAll([{ content: "A cat." }, { content: "A dog." }]);
}, 60_000);
afterAll(() => rmSync(template, { recursive: true }));

/** A data folder with one account and two memories, not served. */
function someData() {
  const dataDir = join(temporaryFolder(), "data");
  cpSync(template, dataDir, { recursive: true });
  const tables = join(dataDir, "memories");
  const [base = ""] = readdirSync(tables).filter((name) => name.startsWith(account.accountId));
  return { dataDir, ...account, table: join(tables, base) };
}

/** Examines only what is kept, in this process; gives the first finding about something. */
async function examineData(dataDir: string, about: string) {
  const lancedb = await loadLanceDb(testCacheDir);
  for await (const each of checkData({ dataDir, isServed: false, lancedb, now: Date.now() })) {
    if (each.check.startsWith(about)) return each;
  }
  throw new Error(`nothing about ${about}`);
}

/** Every file with its size and times, and every folder with what is in it. */
function look(folder: string) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const { size, mtimeMs, ctimeMs } = statSync(join(folder, name));
      return [name, size, mtimeMs, ctimeMs];
    });
}

test("all is well after a server has stopped, and the doctor changes nothing", async () => {
  const { dataDir } = someData();
  const cacheDir = temporaryFolder();
  await prepareModel({ cacheDir });
  // As a server leaves them that was too busy to close its database.
  for (const name of ["wal", "shm"]) writeFileSync(`${databasePath(dataDir)}-${name}`, "");
  const before = [look(dataDir), look(cacheDir)];
  const { found, problems } = await examine(dataDir, { CTXD_CACHE_DIR: cacheDir });
  expect([look(dataDir), look(cacheDir)]).toEqual(before);
  expect(problems).toEqual([]);
  expect(found("table ").message).toStartWith("2 memories in 2 rows");
  expect(found("embedding")).toMatchObject({ state: "ok", message: "a text became a vector" });
  expect(found("server").message).toBe("no server is running");
});

test("lines for people have a state, a name and a sentence each", async () => {
  const { dataDir } = someData();
  const env = { CTXD_CACHE_DIR: testCacheDir, CTXD_PORT: "0" };
  const { stdout, stderr, exitCode } = await ctxd(["doctor"], { dataDir, env });
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  for (const line of stdout.trimEnd().split("\n")) expect(line).toMatch(/^ok {7}[\w ]+: .+$/);
});

test("a server at work is asked, and its tables are left to it", async () => {
  const { dataDir, key } = someData();
  await using server = await serving(dataDir);
  await server.client(key).save({ content: "A bird." });
  const { port } = new URL(server.origin);
  const { found, problems } = await examine(dataDir, { CTXD_PORT: port });
  expect(problems).toEqual([]);
  expect(found("server").message).toContain(`process ${server.pid}`);
  expect(found("server").message).toEndWith("is healthy");
  expect(found("port").message).toBe(`${port} is used by the server`);
  expect(found("table ").message).toContain("checked when no server is running");
  expect(found("journal").message).toMatch(/^(1 entries .* the oldest of 20|empty$)/);
});

test("a server that was killed leaves work for the next start, and no problem", async () => {
  const { dataDir, key } = someData();
  const server = await serving(dataDir);
  await server.client(key).save({ content: "A bird." });
  await server.kill();
  const { found, problems } = await examine(dataDir);
  expect(problems).toEqual([]);
  expect(found("server").message).toBe("no server is running");
  expect(found("journal").message).toContain("the next start flushes them");
  expect(found("table ").message).toStartWith("2 memories");
});

test("where nothing was set up it says how to start, and sets nothing up", async () => {
  const dataDir = join(temporaryFolder(), "none");
  const { found, problems } = await examine(dataDir);
  expect(problems).toEqual([]);
  expect(found("data folder").message).toMatch(/ has no data yet: .* starts a server/);
  expect(existsSync(dataDir)).toBe(false);
});

test("settings that are wrong are a finding too", async () => {
  const { found } = await examine(temporaryFolder(), { CTXD_RATE_LIMIT: "maybe" });
  expect(found("settings")).toMatchObject({ state: "problem" });
  expect(found("settings").message).toContain('CTXD_RATE_LIMIT="maybe"');
  const tls = { CTXD_TLS_CERT: "/nonexistent/cert", CTXD_TLS_KEY: "/nonexistent/key" };
  const { found: ofTls } = await examine(temporaryFolder(), tls);
  expect(ofTls("settings").message).toContain("CTXD_TLS_CERT names /nonexistent/cert");
});

test.each([
  ["is missing", (path: string) => rmSync(path)],
  ["is cut to half", (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ["is empty", (path: string) => truncateSync(path, 0)],
])("a table of which a file of rows %s is a problem", async (_, damage) => {
  const { dataDir, table } = someData();
  const files = (await listFiles(table)).filter((file) => file.startsWith("data/"));
  for (const file of files) damage(join(table, file));
  const { state, message } = await examineData(dataDir, "table ");
  expect(state).toBe("problem");
  expect(message).toContain(table);
  expect(message).toContain("restore a backup");
  expect(message).not.toContain("ctxd-doctor-");
});

test("a table without its newest manifest is a problem", async () => {
  const { dataDir, table } = someData();
  rmSync(join(table, "_versions"), { recursive: true });
  expect((await examineData(dataDir, "table ")).message).toMatch(/\.manifest is missing/);
});

test.each([
  ["is overwritten", (path: string) => writeFileSync(path, "x".repeat(5_000))],
  [
    "has a page overwritten",
    (path: string) => {
      const pages = Bun.file(path).size / 4_096;
      const bytes = Buffer.alloc(4_096 * (pages - 2), 7);
      Bun.spawnSync(["dd", `of=${path}`, "bs=4096", "seek=2", "conv=notrunc"], { stdin: bytes });
    },
  ],
  ["is cut", (path: string) => truncateSync(path, 6_000)],
])("a database that %s is a problem", async (_, damage) => {
  const { dataDir } = someData();
  damage(databasePath(dataDir));
  const { state, message } = await examineData(dataDir, "database");
  expect(state).toBe("problem");
  expect(message).toMatch(/damaged.*restore a backup/);
});

test("a database of a newer program is a problem", async () => {
  const dataDir = temporaryFolder();
  testDatabase(dataDir).sqlite.run("PRAGMA user_version = 1000");
  expect((await examineData(dataDir, "database")).message).toContain("a newer ctxd");
});

test("a torn model file is named, with the folder to remove", async () => {
  const cacheDir = temporaryFolder();
  const folder = await prepareModel({ cacheDir });
  truncateSync(join(folder, "tokenizer.json"), 1_000);
  const before = look(cacheDir);
  const { found } = await examine(temporaryFolder(), { CTXD_CACHE_DIR: cacheDir });
  expect(found("model").state).toBe("problem");
  expect(found("model").message).toContain(`${join(folder, "tokenizer.json")} is damaged`);
  expect(found("model").message).toContain(`remove ${assetFolder(findModel(), cacheDir)}`);
  expect(look(cacheDir)).toEqual(before);
});

test("the model that CTXD_MODEL names is tried, and not downloaded", async () => {
  const folder = temporaryFolder();
  const look = async (model: string) => {
    const settings = { CTXD_CACHE_DIR: testCacheDir, CTXD_MODEL: model };
    return (await examine(temporaryFolder(), settings)).found("model");
  };
  await writeWordModel(folder);
  expect((await look(folder)).message).toMatch(/^words-[0-9a-f]{8} has vectors of 48 numbers$/);
  expect((await look("/nowhere")).state).toBe("problem");
  expect((await look("fast-bge-base-en")).message).toContain("is downloaded by the next start");
});

test("a model that was never unpacked is no problem, and is not unpacked", async () => {
  const cacheDir = join(temporaryFolder(), "cache");
  const { found, problems } = await examine(temporaryFolder(), { CTXD_CACHE_DIR: cacheDir });
  expect(problems).toEqual([]);
  expect(found("model").message).toContain("unpacked by the next start");
  expect(existsSync(cacheDir)).toBe(false);
});

test.each([
  [
    "speaks HTTP",
    () => Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hello") }),
  ],
  [
    "speaks something else",
    () =>
      Bun.listen({
        hostname: "127.0.0.1",
        port: 0,
        socket: {
          data(socket) {
            socket.end("220 hello\r\n");
          },
        },
      }),
  ],
])("a port that another program has, which %s, is a problem", async (_, listen) => {
  const other = listen();
  const { found } = await examine(temporaryFolder(), { CTXD_PORT: String(other.port) });
  other.stop(true);
  expect(found("port").state).toBe("problem");
  expect(found("port").message).toMatch(/is in use by another program: .*--port/);
});

test("a port that another ctxd has is a problem that is told from that", async () => {
  const { dataDir } = someData();
  await using server = await serving(dataDir);
  const { port } = new URL(server.origin);
  const { found } = await examine(temporaryFolder(), { CTXD_PORT: port });
  expect(found("port").message).toContain("ctxd with another data folder");
});

test("a server that does not answer is a problem", async () => {
  const { dataDir } = someData();
  await using server = await serving(dataDir);
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
  const address = silent.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const owner = { pid: server.pid, address: `http://127.0.0.1:${port}`, version: "1" };
  writeFileSync(join(dataDir, "owner.json"), JSON.stringify(owner));
  const { found } = await examine(dataDir);
  silent.close();
  expect(found("server")).toMatchObject({ state: "problem" });
  expect(found("server").message).toContain("does not answer");
});

test("a clock that is before the newest account is a problem", async () => {
  const dataDir = temporaryFolder();
  const { accounts, clock } = testStores(dataDir);
  clock.advance(200 * 365 * 86_400_000);
  await accounts.add({ email: "you@example.com", password: null });
  expect(await examineData(dataDir, "clock")).toMatchObject({ state: "problem" });
});

test("folders that no account has are shown, with what to do", async () => {
  const { dataDir, accountId } = someData();
  mkdirSync(join(dataDir, "memories", "acc_gone.lance"));
  mkdirSync(join(dataDir, "memories", `${accountId}.lance.damaged-1`));
  const { problems } = await examine(dataDir);
  expect(problems).toEqual([]);
  const { stdout } = await ctxd(["doctor"], { dataDir, env: { CTXD_PORT: "0" } });
  expect(stdout).toMatch(/^warning {2}other folders: \S+acc_gone\.lance belongs to no account/m);
  expect(stdout).toMatch(/^warning {2}other folders: \S+\.damaged-1 was left by a crash before/m);
});

test("a folder that others can read is a warning with its remedy", async () => {
  const { dataDir } = someData();
  chmodSync(dataDir, 0o755);
  expect((await examine(dataDir)).found("data folder")).toEqual({
    check: "data folder",
    state: "warning",
    message: `${dataDir} is open to other users: chmod go= ${dataDir} closes it.`,
  });
});

test("a restore that was cut off is a problem", async () => {
  const dataDir = temporaryFolder();
  mkdirSync(join(dataDir, "restoring"));
  expect((await examine(dataDir)).found("restore").message).toContain("run ctxd restore again");
});

test("a file in the place of the data folder is a problem", async () => {
  const path = join(temporaryFolder(), "file");
  writeFileSync(path, "");
  expect((await examine(path)).found("data folder").message).toContain("is a file");
});

test("folders that can't be written are problems", () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o555);
  // Root may write everywhere.
  const asSomeone = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  const { stdout, exitCode } = Bun.spawnSync(
    [
      ...(process.getuid?.() === 0 ? asSomeone : []),
      ...commandLine(["doctor"], { dataDir: join(folder, "data") }),
    ],
    {
      env: {
        HOME: folder,
        CTXD_CACHE_DIR: join(folder, "cache"),
        CTXD_PORT: "0",
        PATH: process.env.PATH,
      },
    },
  );
  expect(exitCode).toBe(1);
  expect(`${stdout}`).toMatch(/^problem {2}data folder: .* can't be written by this user/m);
  expect(`${stdout}`).toMatch(/^problem {2}cache folder: .* set CTXD_CACHE_DIR/m);
});

const canMount = process.platform === "linux" && process.getuid?.() === 0;
test.skipIf(!canMount).each([
  ["ro", "read-only", "problem"],
  ["noexec", "noexec", "warning"],
] as const)("a cache folder mounted %s is told", async (option, text, state) => {
  const folder = join(temporaryFolder(), "a folder");
  mkdirSync(folder);
  const mounted = Bun.spawnSync([
    "mount",
    "-t",
    "tmpfs",
    "-o",
    `size=1m,${option}`,
    "tmpfs",
    folder,
  ]);
  // A container may forbid it.
  if (mounted.exitCode !== 0) return console.warn(`not tried: ${mounted.stderr}`);
  try {
    const link = join(folder, "..", "link");
    symlinkSync(folder, link);
    for (const path of [folder, join(folder, "..", "a folder", "x", "y"), link]) {
      const { found } = await examine(temporaryFolder(), { CTXD_CACHE_DIR: path });
      expect(found("cache folder")).toMatchObject({ state });
      expect(found("cache folder").message).toContain(text);
    }
  } finally {
    Bun.spawnSync(["umount", folder]);
  }
});

test.skipIf(!canMount)("a disk that is nearly full is a problem", async () => {
  const folder = temporaryFolder();
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
  if (mounted.exitCode !== 0) return console.warn(`not tried: ${mounted.stderr}`);
  try {
    expect((await examine(folder)).found("disk")).toMatchObject({ state: "problem" });
  } finally {
    Bun.spawnSync(["umount", folder]);
  }
});
