import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isRunning } from "../../src/system/processes.ts";
import { readLines } from "../support/lines.ts";
import { RIGHT, useOnce } from "../support/main-job.ts";
import { cleanEnvironment, runProgram, tryOut } from "../support/smoke.ts";
import { until } from "../support/until.ts";

/**
 * Tests the main functions of an executable on this machine: `bun test/release/smoke.ts FILE`. It needs no
 * libraries, so it runs without an installation. It sends no signals on Windows, which has none.
 */
const isWindows = process.platform === "win32";
const CONTENT = RIGHT.found;
const QUESTION = "what food must the child avoid";

const [given = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "ctxd-smoke-"));
const executable = join(folder, basename(given));
const data = join(folder, "data");
const agents = join(folder, "agents");
const env = {
  ...cleanEnvironment(),
  HOME: folder,
  CTXD_PORT: "0",
  CTXD_CACHE_DIR: join(folder, "cache"),
  CTXD_DATA_DIR: data,
};

const run = (...args: string[]) => runProgram([executable, ...args], { cwd: folder, env });

/** Saves and searches like an agent: it starts `ctxd mcp`, which starts a server in the background. */
async function useAsAgent(): Promise<void> {
  const bridge = Bun.spawn([executable, "mcp", "--data-dir", agents], {
    cwd: folder,
    env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = readLines(bridge.stdout);
  const send = (message: object) => {
    bridge.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    bridge.stdin.flush();
  };
  const call = async (id: number, method: string, params: object): Promise<string> => {
    send({ id, method, params });
    let line = await lines.next();
    while (!line.done && JSON.parse(line.value).id !== id) line = await lines.next();
    if (line.done) throw new Error(`ctxd mcp ended before it answered ${method}`);
    return line.value;
  };
  const clientInfo = { name: "smoke", version: "1" };
  await call(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  await call(2, "tools/call", { name: "save_memory", arguments: { content: CONTENT } });
  const search = { name: "search_memories", arguments: { query: QUESTION } };
  const found = await call(3, "tools/call", search);
  if (!found.includes(CONTENT)) throw new Error(`an agent did not find its memory: ${found}`);
  bridge.stdin.end();
  await bridge.exited;
}

/** Ends the background server of an agent. */
async function endServer(): Promise<void> {
  const path = join(agents, "owner.json");
  const { pid } = JSON.parse(readFileSync(path, "utf8"));
  process.kill(pid, "SIGTERM");
  await until("the server in the background has ended", () => !isRunning(pid));
}

const steps: Record<string, () => Promise<void>> = {
  "says its version": async () => {
    const output = await run("--version");
    if (!/^\d+\.\d+\.\d+$/.test(output)) throw new Error(`--version prints ${output}`);
  },
  "saves over HTTP and finds by meaning": async () => {
    const { found, errors, exitCode } = await useOnce({ cwd: folder, executable, env });
    const isEnded = isWindows || exitCode === 0;
    if (found !== CONTENT || errors !== "" || !isEnded)
      throw new Error(`it found ${found} and ended with ${exitCode}: ${errors}`);
  },
  "backs up and restores": async () => {
    await run("backup", join(folder, "backup"));
    const restored = ["--data-dir", join(folder, "restored")];
    await run("restore", join(folder, "backup"), ...restored);
    const file = join(folder, "memories.jsonl");
    await run("export", "--user", "you@example.com", file, ...restored);
    if (!readFileSync(file, "utf8").includes(CONTENT)) throw new Error("a memory was not restored");
  },
  "is a memory for an agent": async () => {
    await useAsAgent();
    await endServer();
  },
  "finds nothing wrong with itself": async () => {
    await run("doctor");
  },
};

if (!existsSync(given)) {
  console.error("usage: bun test/release/smoke.ts FILE");
  process.exit(2);
}
cpSync(given, executable);
mkdirSync(agents);
await tryOut(folder, async () => {
  for (const [name, step] of Object.entries(steps)) {
    const started = performance.now();
    await step();
    console.log(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
});
