import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import { readTrap, setTrap, sprungBy, type Trap } from "../cluster/trap.ts";
import { createClient } from "./client.ts";
import { readLines } from "./lines.ts";
import { type ObjectStore, startObjectStore } from "./object-store.ts";
import { openPostgres } from "./open-postgres.ts";
import { sharedPostgres, startPostgres } from "./postgres.ts";
import { type ServerKind, type ServerProcess, spawnServer } from "./server-process.ts";

/** Milliseconds that a start or a sweep may take on a busy machine. */
const TIMEOUT_MS = 60_000;
const POLL_MS = 20;

interface ClusterOptions {
  replicas?: number;
  /** With a fake model and upkeep that never waits by default. */
  kind?: ServerKind;
  settings?: Record<string, string>;
  /** Whether the test stops PostgreSQL: then it is no other test's. */
  stopsPostgres?: boolean;
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>;
export type Replica = ReturnType<typeof createReplica>;

/** Starts servers that share one database and one object store. Ended by `await using`. */
export async function startCluster({
  replicas: count = 3,
  kind = "replica",
  settings = {},
  stopsPostgres = false,
}: ClusterOptions = {}) {
  await using opened = new AsyncDisposableStack();
  const root = mkdtempSync(join(tmpdir(), "ctxd-cluster-"));
  opened.defer(() => rmSync(root, { recursive: true, force: true }));
  const postgres = stopsPostgres ? opened.use(await startPostgres()) : await sharedPostgres();
  const database = await postgres.database(migrate);
  if (!stopsPostgres) opened.use(database);
  const objects = opened.use(await startObjectStore());
  const trap = join(root, "traps", "trap");
  mkdirSync(join(root, "traps"));
  const replicas: Replica[] = [];
  opened.defer(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
  });
  const shared = { CTXD_DATABASE_URL: database.url, ...objects.settings() };
  let accounts = 0;

  const addReplica = async (dataDir = mkdtempSync(join(root, "replica-"))) => {
    const replica = createReplica(dataDir, (folder) =>
      spawnServer(folder, kind, { ...shared, ...settings, TRAP: trap }),
    );
    replicas.push(replica);
    await replica.start();
    return replica;
  };
  await Promise.all(Array.from({ length: count }, () => addReplica()));

  const held = opened.move();
  return {
    replicas,
    addReplica,
    async removeReplica(replica: Replica) {
      replicas.splice(replicas.indexOf(replica), 1);
      await replica.kill();
    },
    postgres,
    database,
    objects,
    /** A new account with a key of all scopes. */
    addAccount: () => addSharedAccount(database.url, `account-${++accounts}@example.com`),
    client: (replica: number, key: string) => createClient(replicas[replica]?.origin() ?? "", key),
    /** For the first replica that does a step. */
    setTrap: (set: Trap) => setTrap(trap, set),
    /** The step of the trap that no replica has come to yet. */
    awaited: () => readTrap(trap)?.step ?? null,
    /** The replica that the trap has caught; null as long as it has none. */
    trapped: () => replicas.find(({ pid }) => pid() === sprungBy(trap)) ?? null,
    /** Waits until the bucket has the bases of the checkpoints and no others; what is wrong by then. */
    async untilSwept(): Promise<{ orphans: string[]; missing: string[] }> {
      const query = "select base, files from checkpoints";
      for (const end = performance.now() + TIMEOUT_MS; ; await Bun.sleep(10 * POLL_MS)) {
        const wanted = await postgres.execute(query, database.name);
        const there = objectsIn(objects);
        const found = compare(there, wanted);
        if (found.orphans.length + found.missing.length === 0) return found;
        if (performance.now() > end) return found;
      }
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

async function migrate(url: string) {
  const db = await openPostgres(url);
  await db.close();
}

/** Adds an account to a database that servers share, and gives a key for it. */
async function addSharedAccount(url: string, email: string) {
  const db = await openPostgres(url, { migrates: false, sessions: 1 });
  try {
    const stores = { db, clock: Date.now };
    const { id: accountId } = await createAccounts(stores).add({ email, password: null });
    const wanted = { name: "test", scopes: SCOPES, expiresAt: null };
    const { key } = await createKeys(stores).create(accountId, wanted);
    return { accountId, key };
  } finally {
    await db.close();
  }
}

/** One server, whose process may be another one after a crash. */
function createReplica(dataDir: string, spawn: (dataDir: string) => ServerProcess) {
  let server: ServerProcess | null = null;
  /** Lines that its processes have printed, and how often. */
  const lines = new Map<string, number>();
  let origin = "";
  let printed = "";
  const read = async ({ stdout }: ServerProcess) => {
    for await (const line of readLines(stdout)) {
      lines.set(line, (lines.get(line) ?? 0) + 1);
      if (line.startsWith("listening")) printed = line;
    }
  };
  const start = async () => {
    const started = spawn(dataDir);
    server = started;
    void read(started);
    printed = "";
    for (const end = performance.now() + TIMEOUT_MS; ; await Bun.sleep(POLL_MS)) {
      const said = printed || started.errors();
      const port = /listening (?:on )?\S+:(\d+)/.exec(said)?.[1];
      if (port !== undefined) {
        origin = `http://127.0.0.1:${port}`;
        return;
      }
      if (!started.isRunning() || performance.now() > end) {
        throw new Error(`a replica does not start: ${said}`);
      }
    }
  };
  const signal = (name: NodeJS.Signals) => {
    if (server?.isRunning()) process.kill(server.pid, name);
  };
  const kill = async () => {
    await server?.kill();
  };

  return {
    dataDir,
    /** Whether requests shall go to it; for the test to set. */
    isUp: true,
    origin: () => origin,
    pid: () => server?.pid ?? 0,
    /** How often its processes have done a step of upkeep. */
    steps: (name: string) => lines.get(name) ?? 0,
    errors: () => server?.errors() ?? "",
    start,
    kill,
    /** Ends it in order, and resolves to its exit code. */
    end: async () => await server?.end(),
    /** Starts it again. @param isEmpty whether its local files are lost */
    async restart(isEmpty = false) {
      await kill();
      if (isEmpty) {
        for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name), { recursive: true });
      }
      await start();
    },
    pause: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
  };
}

/** Names of all objects below the prefix, as BASE/FILE. */
function objectsIn({ folder, bucket }: ObjectStore): string[] {
  const root = join(folder, bucket, "memories");
  // Written after the object itself: a server that is killed between has no such object.
  const ending = "._S3rver_metadata.json";
  try {
    return readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(ending))
      .map((name) => name.slice(0, -ending.length));
  } catch {
    return [];
  }
}

/** Objects of bases that no checkpoint names, and files of checkpoints that are no objects. */
function compare(
  there: readonly string[],
  checkpoints: readonly { base: string; files: string }[],
) {
  const bases = new Set(checkpoints.map(({ base }) => base));
  const orphans = there.filter((name) => !bases.has(name.slice(0, name.indexOf("/"))));
  const wanted = checkpoints.flatMap(({ base, files }) =>
    (JSON.parse(files) as string[]).map((file) => `${base}/${file}`),
  );
  const known = new Set(there);
  return { orphans, missing: wanted.filter((name) => !known.has(name)) };
}
