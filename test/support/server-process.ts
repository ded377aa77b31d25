import { join } from "node:path";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { readOwner } from "../../src/db/data-lock.ts";
import { databasePath, openSqlite } from "../../src/db/sqlite.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import { testCacheDir } from "./embedder.ts";

const ROOT = join(import.meta.dir, "..", "..");

/** The program as people run it, its next version, and ones with a fake model whose upkeep never waits. */
export const SERVERS = {
  real: ["src/main.ts", "serve", "--port", "0", "--data-dir"],
  next: ["test/cluster/next-version.ts", "serve", "--port", "0", "--data-dir"],
  impatient: ["test/crash/impatient-server.ts"],
  /** The same as one of several, see `startCluster`. */
  replica: ["test/cluster/replica.ts"],
} as const;

export type ServerKind = keyof typeof SERVERS;
export type ServerProcess = ReturnType<typeof spawnServer>;

/** Milliseconds that a start may take on a busy machine. */
const PATIENCE = 60_000;

/**
 * Starts a server in a process of its own, on a free port, and waits for nothing.
 * @param settings beside those that every test has
 */
export function spawnServer(
  dataDir: string,
  kind: ServerKind,
  settings: Record<string, string> = {},
) {
  const child = Bun.spawn([process.execPath, ...SERVERS[kind], dataDir], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: {
      HOME: "/nonexistent",
      PATH: process.env.PATH ?? "",
      TMPDIR: process.env.TMPDIR ?? "/tmp",
      CTXD_CACHE_DIR: testCacheDir,
      CTXD_LOG_LEVEL: "debug",
      ...settings,
    },
  });
  let errors = "";
  const errorsRead = (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stderr) errors += decoder.decode(bytes, { stream: true });
  })();

  const stop = async (signal: "SIGKILL" | "SIGTERM") => {
    child.kill(signal);
    const exitCode = await child.exited;
    await errorsRead;
    return exitCode;
  };

  return {
    pid: child.pid,
    /** Lines that an impatient server prints at the begin of a chore of LanceDB. */
    stdout: child.stdout,
    /** What it has said on standard error so far. */
    errors: () => errors,
    exited: child.exited.then(async (exitCode) => {
      await errorsRead;
      return exitCode;
    }),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    /** The origin of its URLs, as soon as it answers there. */
    async origin(): Promise<string> {
      for (const end = performance.now() + PATIENCE; performance.now() < end; await Bun.sleep(20)) {
        if (child.exitCode !== null) break;
        const owner = readOwner(dataDir);
        if (owner?.pid === child.pid && owner.address !== null) return owner.address;
      }
      throw new Error(`the server does not answer: ${errors}`);
    },
    kill: () => stop("SIGKILL"),
    end: () => stop("SIGTERM"),
    [Symbol.asyncDispose]: async () => void (await stop("SIGKILL")),
  };
}

/** Adds an account to a data folder, with or without a server, and gives a key for it. */
export async function addAccountTo(dataDir: string, email = "you@example.com") {
  const db = openSqlite(databasePath(dataDir));
  try {
    const stores = { db, clock: Date.now };
    const { id: accountId } = await createAccounts(stores).add({ email, password: null });
    const keys = createKeys(stores);
    const { key } = await keys.create(accountId, { name: "test", scopes: SCOPES, expiresAt: null });
    return { accountId, key };
  } finally {
    await db.close();
  }
}
