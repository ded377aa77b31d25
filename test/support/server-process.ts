import { Database as Sqlite } from "bun:sqlite";
import { join } from "node:path";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { databasePath, readOwner } from "../../src/db/data-lock.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import { fileOf } from "./bundles.ts";
import { createClient } from "./client.ts";
import { testCacheDir } from "./embedder.ts";
import { openDatabase } from "./empty-database.ts";
import { FOR_MOMENTS } from "./for-moments.ts";
import { until } from "./until.ts";

const ROOT = join(import.meta.dir, "..", "..");

/** The program itself, its next version, and servers with a fake model and immediate upkeep. */
export const SERVERS = {
  real: ["src/main.ts", "serve", "--port", "0", "--data-dir"],
  next: ["test/cluster/next-version.ts", "serve", "--port", "0", "--data-dir"],
  impatient: ["test/crash/impatient-server.ts"],
  /** One of several servers with a fake model, see `startCluster`. */
  replica: ["test/cluster/replica.ts"],
} as const;

export type ServerKind = keyof typeof SERVERS;

/** The arguments by which Bun runs a server. */
function argumentsOf(kind: ServerKind): string[] {
  const [program, ...rest] = SERVERS[kind];
  return [fileOf(program), ...rest];
}

export type ServerProcess = ReturnType<typeof spawnServer>;

/**
 * Starts a server in a process of its own, on a free port. Does not wait until it answers.
 * @param settings in addition to those of every test
 * @param flags of `ctxd serve`, for a server of the program itself
 */
export function spawnServer(
  dataDir: string,
  kind: ServerKind,
  settings: Record<string, string> = {},
  flags: readonly string[] = [],
) {
  const child = Bun.spawn([process.execPath, ...argumentsOf(kind), dataDir, ...flags], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: {
      HOME: "/nonexistent",
      PATH: process.env.PATH ?? "",
      TMPDIR: process.env.TMPDIR ?? "/tmp",
      CTXD_CACHE_DIR: testCacheDir,
      ...FOR_MOMENTS,
      // Another engine takes a second of processor time to start, and several servers run at once.
      CTXD_ENGINES: "1",
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
    /** An impatient server prints a line when it begins a step of upkeep. */
    stdout: child.stdout,
    /** Its standard error so far. */
    errors: () => errors,
    exited: child.exited.then(async (exitCode) => {
      await errorsRead;
      return exitCode;
    }),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    /** The origin of its URLs. Resolves when it answers there. */
    async origin(): Promise<string> {
      return until("the server answers", () => {
        if (child.exitCode !== null) throw new Error(`the server has ended: ${errors}`);
        const owner = readOwner(dataDir);
        return owner?.pid === child.pid ? owner.address : null;
      });
    },
    kill: () => stop("SIGKILL"),
    end: () => stop("SIGTERM"),
    [Symbol.asyncDispose]: async () => void (await stop("SIGKILL")),
  };
}

/**
 * Runs `ctxd serve` in a process of its own, and resolves when it answers. `await using` stops it with SIGTERM.
 * @param settings in addition to those of every test
 * @param flags further ones, such as a port
 */
export async function serving(
  dataDir: string,
  settings: Record<string, string> = {},
  flags: readonly string[] = [],
) {
  const server = spawnServer(dataDir, "real", settings, flags);
  const origin = await server.origin();
  return {
    origin,
    pid: server.pid,
    /** Its standard error so far. */
    errors: server.errors,
    client: (key: string) => createClient(origin, key),
    kill: server.kill,
    [Symbol.asyncDispose]: async () => void (await server.end()),
  };
}

/** Adds an account to a data folder, whether a server runs or not, and returns a key for it. */
export async function addAccountTo(dataDir: string, email = "you@example.com") {
  const db = openDatabase(dataDir);
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

/** Waits until the bases of a data folder have all that was written: no flush changes what is known of it any more. */
export async function untilFlushed(dataDir: string): Promise<void> {
  using db = new Sqlite(databasePath(dataDir), { readonly: true });
  const unflushed = db.query(
    "SELECT 1 FROM heads LEFT JOIN checkpoints ON account_id = name WHERE seq > coalesce(up_to, 0)",
  );
  await until("all is flushed", () => unflushed.get() === null);
}
