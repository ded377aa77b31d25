import { isLocked, readOwner } from "../../src/db/data-lock.ts";
import { fileOf } from "./bundles.ts";
import { testCacheDir } from "./embedder.ts";
import { readLines } from "./lines.ts";
import { until } from "./until.ts";

/** The command that starts `ctxd` for a data folder, without the environment of the tests. */
export function program(dataDir: string, ...args: string[]) {
  return {
    command: process.execPath,
    args: [fileOf("src/main.ts"), ...args, "--data-dir", dataDir],
    env: { HOME: "/nonexistent", CTXD_PORT: "0", CTXD_CACHE_DIR: testCacheDir },
  };
}

/** Runs `ctxd`. The test writes its standard input and reads its output. */
export function start(dataDir: string, ...args: string[]) {
  return startIn({}, dataDir, ...args);
}

/** Runs `ctxd` as `start` does, with more in its environment. */
function startIn(more: Record<string, string>, dataDir: string, ...args: string[]) {
  const { command, args: all, env } = program(dataDir, ...args);
  const child = Bun.spawn([command, ...all], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...env, ...more },
  });
  return Object.assign(child, { lines: () => readLines(child.stdout) });
}

/** Runs `ctxd mcp`. The test sends and reads messages line by line. */
export function startBridge(dataDir: string, ...args: string[]) {
  return startBridgeIn({}, dataDir, ...args);
}

/** Runs `ctxd mcp` as `startBridge` does, with more in its environment. */
export function startBridgeIn(more: Record<string, string>, dataDir: string, ...args: string[]) {
  const child = startIn(more, dataDir, "mcp", ...args);
  const lines = child.lines();
  return {
    child,
    write(text: string) {
      child.stdin.write(text);
      child.stdin.flush();
    },
    send(message: object) {
      this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    },
    async next(): Promise<Record<string, unknown>> {
      const { value } = await lines.next();
      return JSON.parse(value ?? "null");
    },
    /** Calls a tool by protocol version 2025-11-25, and returns the next message. */
    async call(name: string, args: object, id: number | string = 1) {
      this.send({ id, method: "tools/call", params: { name, arguments: args } });
      return this.next();
    },
    async end() {
      child.stdin.end();
      return child.exited;
    },
  };
}

/** The process id of a folder's server. */
export function serverOf(dataDir: string): number {
  const owner = readOwner(dataDir);
  if (!owner) throw new Error("no server runs for the folder");
  return owner.pid;
}

/**
 * Stops the server of a folder, if one runs, and waits until it has ended. When bridges start several
 * servers at once, a late one may lock the folder after the first one has ended: it is stopped too.
 */
export async function stopServer(dataDir: string, signal: NodeJS.Signals = "SIGTERM") {
  const signalled = new Set<number>();
  await until("the folder is not locked", () => {
    if (!isLocked(dataDir)) return true;
    const owner = readOwner(dataDir);
    if (owner && !signalled.has(owner.pid)) {
      signalled.add(owner.pid);
      kill(owner.pid, signal);
    }
    return false;
  });
}

function kill(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended in the meantime.
  }
}
