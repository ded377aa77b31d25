import { join } from "node:path";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { readOwner } from "../../src/db/data-lock.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { FULL_ACCESS } from "../../src/keys/scopes.ts";
import { formToken } from "../../src/pages/cookies.ts";
import { createSessions } from "../../src/sign-in/sessions/sessions.ts";
import { testCacheDir } from "../support/embedder.ts";
import { openDatabase } from "../support/empty-database.ts";
import { SERVERS, type ServerKind } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import type { Held } from "./loop-probe.ts";

const ROOT = join(import.meta.dir, "..", "..");

export type ProbedServer = Awaited<ReturnType<typeof startProbedServer>>;

/**
 * Starts a server in its own process, with an account and a probe on its main thread.
 * @param settings in addition to those of every test
 * @param preloaded files of this folder that it runs first, beside the probe
 */
export async function startProbedServer(
  dataDir: string,
  kind: ServerKind,
  settings: Record<string, string> = {},
  preloaded: readonly string[] = [],
) {
  const account = await addPerson(dataDir);
  let hear: (held: Held) => void = () => {};
  const preload = ["loop-probe.ts", ...preloaded].flatMap((name) => [
    "--preload",
    join(import.meta.dir, name),
  ]);
  const child = Bun.spawn([process.execPath, ...preload, ...SERVERS[kind], dataDir], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
    ipc: (held: Held) => hear(held),
    env: {
      HOME: "/nonexistent",
      PATH: process.env.PATH ?? "",
      TMPDIR: process.env.TMPDIR ?? "/tmp",
      CTXD_CACHE_DIR: testCacheDir,
      CTXD_LOG_LEVEL: "error",
      CTXD_RATE_LIMIT: "off",
      ...settings,
    },
  });
  const origin = await until("the server's address", () => {
    if (child.exitCode !== null) throw new Error("the server has ended");
    const owner = readOwner(dataDir);
    return owner?.pid === child.pid ? owner.address : null;
  });

  return {
    ...account,
    origin,
    pid: child.pid,
    port: Number(new URL(origin).port),
    /** The longest time for which its main thread was blocked since the last call, in milliseconds. */
    held: () =>
      new Promise<Held>((resolve) => {
        hear = resolve;
        child.send("held");
      }),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Adds an account with a key and a session to a data folder. */
async function addPerson(dataDir: string) {
  const db = openDatabase(dataDir);
  try {
    const stores = { db, clock: Date.now };
    const { id } = await createAccounts(stores).add({ email: "you@example.com", password: null });
    const { key } = await createKeys(stores).create(id, {
      name: "test",
      scopes: FULL_ACCESS,
      expiresAt: null,
    });
    const session = await createSessions(stores).begin(id);
    return { key, session, token: formToken(session) };
  } finally {
    await db.close();
  }
}
