import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { databasePath } from "../../src/db/data-lock.ts";
import { checkData } from "../../src/doctor/examine.ts";
import { modelFiles, prepareModel } from "../../src/embedding/manifest.ts";
import { assetFolder } from "../../src/native/asset.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder, testDatabase } from "../support/database.ts";
import { runDoctor, WITHOUT_MODEL } from "../support/doctor.ts";
import { testCacheDir } from "../support/embedder.ts";
import { listFiles } from "../support/files.ts";
import { addAccountTo, serving } from "../support/server-process.ts";
import { testStores } from "../support/stores.ts";
import { writeWordModel } from "../support/word-model.ts";

let template: string;
let account: Awaited<ReturnType<typeof addAccountTo>>;

beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  account = await addAccountTo(template);
  await using server = await serving(template);
  await server.client(account.key).saveAll([{ content: "A cat." }, { content: "A dog." }]);
}, 120_000);
afterAll(() => rmSync(template, { recursive: true }));

/** A data folder with one account and two memories. No server uses it. */
function copyData() {
  const dataDir = join(temporaryFolder(), "data");
  cpSync(template, dataDir, { recursive: true });
  const tables = join(dataDir, "memories");
  const [base = ""] = readdirSync(tables).filter((name) => name.startsWith(account.accountId));
  return { dataDir, ...account, table: join(tables, base) };
}

/** Checks only the data folder, in this process. Returns the first finding of a check. */
async function examineData(dataDir: string, about: string) {
  const lancedb = await loadLanceDb(testCacheDir);
  for await (const each of checkData({ dataDir, isServed: false, lancedb, now: Date.now() })) {
    if (each.check.startsWith(about)) return each;
  }
  throw new Error(`nothing about ${about}`);
}

/** Returns all files and folders with their sizes and times. */
function snapshot(folder: string) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const { size, mtimeMs, ctimeMs } = statSync(join(folder, name));
      return [name, size, mtimeMs, ctimeMs];
    });
}

test("after a server has stopped there are no problems, and the doctor changes nothing", async () => {
  const { dataDir } = copyData();
  const cacheDir = temporaryFolder();
  await prepareModel({ cacheDir });
  // A server that does not close its database leaves these files.
  for (const name of ["wal", "shm"]) writeFileSync(`${databasePath(dataDir)}-${name}`, "");
  const before = [snapshot(dataDir), snapshot(cacheDir)];
  const { found, problems } = await runDoctor(dataDir, { CTXD_CACHE_DIR: cacheDir });
  expect([snapshot(dataDir), snapshot(cacheDir)]).toEqual(before);
  expect(problems).toEqual([]);
  expect(found("table ").message).toStartWith("2 memories in 2 rows");
  expect(found("embedding")).toMatchObject({ state: "ok", message: "a text became a vector" });
  expect(found("server").message).toBe("no server is running");
});

test("each line of text output has a state, a check and a sentence", async () => {
  const { dataDir } = copyData();
  const env = { CTXD_CACHE_DIR: testCacheDir, CTXD_PORT: "0" };
  const { stdout, stderr, exitCode } = await ctxd(["doctor"], { dataDir, env });
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  for (const line of stdout.trimEnd().split("\n")) expect(line).toMatch(/^ok {7}[\w ]+: .+$/);
});

test("the doctor asks a running server and does not check its tables; its port, and its silence, are problems", async () => {
  const { dataDir, key } = copyData();
  await using server = await serving(dataDir);
  await server.client(key).save({ content: "A bird." });
  const { port } = new URL(server.origin);
  const { found, problems } = await runDoctor(dataDir, { CTXD_PORT: port });
  expect(problems).toEqual([]);
  expect(found("server").message).toContain(`process ${server.pid}`);
  expect(found("server").message).toEndWith("is healthy");
  expect(found("port").message).toBe(`${port} is used by the server`);
  expect(found("table ").message).toContain("checked when no server is running");
  expect(found("journal").message).toMatch(/^(1 entries .* the oldest of 20|empty$)/);

  const { found: ofOther } = await runDoctor(temporaryFolder(), {
    ...WITHOUT_MODEL,
    CTXD_PORT: port,
  });
  expect(ofOther("port").message).toContain("ctxd with another data folder");

  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
  const address = silent.address();
  const silentPort = address !== null && typeof address === "object" ? address.port : 0;
  const owner = { pid: server.pid, address: `http://127.0.0.1:${silentPort}`, version: "1" };
  writeFileSync(join(dataDir, "owner.json"), JSON.stringify(owner));
  const { found: ofSilent } = await runDoctor(dataDir, WITHOUT_MODEL);
  silent.close();
  expect(ofSilent("server")).toMatchObject({ state: "problem" });
  expect(ofSilent("server").message).toContain("does not answer");
});

test("a killed server leaves entries for the next start, which is no problem", async () => {
  const { dataDir, key } = copyData();
  const server = await serving(dataDir);
  await server.client(key).save({ content: "A bird." });
  await server.kill();
  const { found, problems } = await runDoctor(dataDir);
  expect(problems).toEqual([]);
  expect(found("server").message).toBe("no server is running");
  expect(found("journal").message).toContain("the next start flushes them");
  expect(found("table ").message).toStartWith("2 memories");
});

test.skipIf(process.platform === "win32")(
  "a connected agent is asked by its own program, and no other program is run",
  async () => {
    const home = temporaryFolder();
    for (const folder of [".gemini", "bin"]) mkdirSync(join(home, folder));
    const entry = { mcpServers: { ctxd: { command: "ctxd", args: ["mcp"] } } };
    writeFileSync(join(home, ".claude.json"), JSON.stringify(entry));
    for (const [name, state] of Object.entries({ claude: "Failed to connect", gemini: "" })) {
      const script = `#!/bin/sh\ntouch $HOME/${name}-ran\necho "ctxd: $* - ${state}"\n`;
      writeFileSync(join(home, "bin", name), script, { mode: 0o755 });
    }
    const env = { HOME: home, PATH: `${join(home, "bin")}:/usr/bin:/bin` };
    const { found, problems } = await runDoctor(temporaryFolder(), env);
    expect(problems).toEqual([found("agent")]);
    expect(found("agent").message).toBe(
      "Claude Code can't reach ctxd (“ctxd: mcp list - Failed to connect”): run ctxd connect claude-code again.",
    );
    expect(existsSync(join(home, "claude-ran"))).toBe(true);
    expect(existsSync(join(home, "gemini-ran"))).toBe(false);
    const { stdout } = await ctxd(["doctor", "--help"]);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain("whose program is in PATH, is asked");
  },
);

test("without data the doctor says how to start, and creates nothing", async () => {
  const dataDir = join(temporaryFolder(), "none");
  const { found, problems } = await runDoctor(dataDir);
  expect(problems).toEqual([]);
  expect(found("data folder").message).toMatch(/ has no data yet: .* starts a server/);
  expect(existsSync(dataDir)).toBe(false);
});

test("wrong settings are a problem", async () => {
  const { found } = await runDoctor(temporaryFolder(), {
    ...WITHOUT_MODEL,
    CTXD_RATE_LIMIT: "maybe",
  });
  expect(found("settings")).toMatchObject({ state: "problem" });
  expect(found("settings").message).toContain('CTXD_RATE_LIMIT="maybe"');
  const tls = { CTXD_TLS_CERT: "/nonexistent/cert", CTXD_TLS_KEY: "/nonexistent/key" };
  const { found: ofTls } = await runDoctor(temporaryFolder(), { ...WITHOUT_MODEL, ...tls });
  expect(ofTls("settings").message).toContain("CTXD_TLS_CERT names /nonexistent/cert");
});

test.each([
  ["is missing", (path: string) => rmSync(path)],
  ["is cut to half", (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ["is empty", (path: string) => truncateSync(path, 0)],
])("a table is damaged when a file of its rows %s", async (_, damage) => {
  const { dataDir, table } = copyData();
  const files = (await listFiles(table)).filter((file) => file.startsWith("data/"));
  for (const file of files) damage(join(table, file));
  const { state, message } = await examineData(dataDir, "table ");
  expect(state).toBe("problem");
  expect(message).toContain(table);
  expect(message).toContain("restore a backup");
  expect(message).not.toContain("ctxd-doctor-");
});

test("a table without its newest manifest is a problem", async () => {
  const { dataDir, table } = copyData();
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
  const { dataDir } = copyData();
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

test("a truncated model file is reported with the folder to remove", async () => {
  const cacheDir = temporaryFolder();
  const folder = await prepareModel({ cacheDir });
  truncateSync(join(folder, "tokenizer.json"), 1_000);
  const before = snapshot(cacheDir);
  const { found } = await runDoctor(temporaryFolder(), { CTXD_CACHE_DIR: cacheDir });
  expect(found("model").state).toBe("problem");
  expect(found("model").message).toContain(`${join(folder, "tokenizer.json")} is damaged`);
  expect(found("model").message).toContain(`remove ${assetFolder(modelFiles(), cacheDir)}`);
  expect(snapshot(cacheDir)).toEqual(before);
});

test("the model of CTXD_MODEL is tested, and not downloaded", async () => {
  const folder = temporaryFolder();
  const modelFinding = async (model: string) => {
    const settings = { CTXD_CACHE_DIR: testCacheDir, CTXD_MODEL: model };
    return (await runDoctor(temporaryFolder(), settings)).found("model");
  };
  await writeWordModel(folder);
  expect((await modelFinding(folder)).message).toMatch(
    /^words-[0-9a-f]{8} has vectors of 48 numbers$/,
  );
  expect((await modelFinding("/nowhere")).state).toBe("problem");
  const former = await modelFinding("fast-bge-base-en-v1.5");
  expect(former.state).toBe("problem");
  expect(former.message).toContain("is neither a folder nor a name of ctxd model list");
  expect((await modelFinding("bge-base")).message).toContain("is downloaded by the next start");
});

test("a model that is not unpacked yet is no problem, and stays so", async () => {
  const cacheDir = join(temporaryFolder(), "cache");
  const { found, problems } = await runDoctor(temporaryFolder(), { CTXD_CACHE_DIR: cacheDir });
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
])("a port that is used by another program, which %s, is a problem", async (_, listen) => {
  const other = listen();
  const { found } = await runDoctor(temporaryFolder(), {
    ...WITHOUT_MODEL,
    CTXD_PORT: `${other.port}`,
  });
  other.stop(true);
  expect(found("port").state).toBe("problem");
  expect(found("port").message).toMatch(/is in use by another program: .*--port/);
});

test("a clock before the creation of the newest account is a problem", async () => {
  const dataDir = temporaryFolder();
  const { accounts, clock } = testStores(dataDir);
  clock.advance(200 * 365 * 86_400_000);
  await accounts.add({ email: "you@example.com", password: null });
  expect(await examineData(dataDir, "clock")).toMatchObject({ state: "problem" });
});

test("folders that belong to no account are warnings with a remedy", async () => {
  const { dataDir, accountId } = copyData();
  mkdirSync(join(dataDir, "memories", "acc_gone.lance"));
  mkdirSync(join(dataDir, "memories", `${accountId}.lance.damaged-1`));
  const env = { CTXD_CACHE_DIR: testCacheDir, CTXD_PORT: "0" };
  const { stdout, stderr, exitCode } = await ctxd(["doctor"], { dataDir, env });
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  expect(stdout).not.toMatch(/^problem/m);
  expect(stdout).toMatch(/^warning {2}other folders: \S+acc_gone\.lance belongs to no account/m);
  expect(stdout).toMatch(/^warning {2}other folders: \S+\.damaged-1 was left by a crash before/m);
});
