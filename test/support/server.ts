import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccess } from "../../src/access/access.ts";
import { createQuotas } from "../../src/accounts/quotas.ts";
import { createActivity } from "../../src/activity/activity.ts";
import { createApp } from "../../src/app.ts";
import { createProgressFiles } from "../../src/capture/progress.ts";
import type { Config } from "../../src/config/config.ts";
import type { ServerStatus } from "../../src/dashboard/server-status.ts";
import type { PostgresDatabase } from "../../src/db/postgres-database.ts";
import type { SqliteDatabase } from "../../src/db/sqlite.ts";
import { createEmbedders } from "../../src/embedding/chosen-model.ts";
import type { Embedder, EmbeddingModel } from "../../src/embedding/embedder.ts";
import type { Checks } from "../../src/http/health.ts";
import type { Drain } from "../../src/http/load/drain.ts";
import { createKeys } from "../../src/keys/keys.ts";
import type { Bound } from "../../src/keys/reach.ts";
import { SCOPES, type Scope } from "../../src/keys/scopes.ts";
import type { Log } from "../../src/log.ts";
import type { Expiry } from "../../src/memories/background/expiry.ts";
import type { Log as MemoryLog } from "../../src/memories/log/log.ts";
import { createSqliteLog } from "../../src/memories/log/sqlite-log.ts";
import { openStore } from "../../src/memories/open-store.ts";
import { createIdempotency } from "../../src/memories/rules/idempotency.ts";
import { createMemories } from "../../src/memories/rules/memories.ts";
import { createStorage } from "../../src/memories/table/storage.ts";
import type { UpkeepLimits } from "../../src/memories/upkeep/flush-state.ts";
import { createMetrics } from "../../src/metrics.ts";
import { type LanceDb, loadLanceDb } from "../../src/native/lancedb.ts";
import type { FetchDocument } from "../../src/oauth/clients/document-fetcher.ts";
import { createSecurityLog } from "../../src/security-log/security-log.ts";
import type { Data } from "../../src/server/shared-data.ts";
import { createUndoable } from "../../src/undo/undoable.ts";
import { createUses } from "../../src/uses/uses.ts";
import { APP_CONFIG } from "./app-config.ts";
import { type Client, createClient } from "./client.ts";
import { testClock } from "./database.ts";
import { silentLog, testCacheDir } from "./embedder.ts";
import { openDatabase } from "./empty-database.ts";
import { fakeEmbedder } from "./fake-embedder.ts";
import { newSharedPlace, REPLICAS } from "./replicas.ts";

export type ConfigOf =
  | Partial<Config>
  | ((origin: string) => Partial<Config> | Promise<Partial<Config>>);

interface Options {
  /** A folder that is there, and stays; by default a new one, which goes when the server is closed. */
  dataDir?: string;
  /** By default one that the test moves. */
  clock?: typeof Date.now;
  /** A fake one by default. */
  embedder?: Embedder;
  /** Opens the embedder of a model that a table records. */
  openRecorded?: (model: EmbeddingModel) => Embedder;
  /** May depend on where the server is reached. */
  config?: ConfigOf;
  /** A free one by default. */
  port?: number;
  /** Seconds that an idle connection lives; by default as in `ctxd serve`. */
  idleTimeout?: number;
  /** How clients' metadata documents are had. */
  fetchDocument?: FetchDocument;
  checks?: Checks;
  serverStatus?: ServerStatus;
  drain?: Drain;
  /** Bytes of memory for what searches read. */
  viewMemory?: number;
  /** When what has expired is forgotten. */
  expiry?: Expiry;
  /** What each member may keep; nothing is limited by default. */
  memberQuota?: Config["memberQuota"];
  log?: Log;
  /** When upkeep is due. */
  due?: UpkeepLimits;
  /** Stands between the server and LanceDB, to count or to break its calls. */
  wrap?: (lancedb: LanceDb) => LanceDb;
  /** The same for the log of memories. */
  wrapLog?: (log: MemoryLog) => MemoryLog;
}

/** In the place of the secret that every start makes. */
const SET_UP_TOKEN = "of-the-start";
/** Where the owner's account is made. */
export const SET_UP_LINK = `/setup?token=${SET_UP_TOKEN}`;

export type TestServer = Awaited<ReturnType<typeof startServer>>;

/** Seconds that an idle connection of `ctxd serve` lives. */
const IDLE_TIMEOUT = 30;

/** What a server keeps, by settings: in a folder, or where several share it. */
interface Kept extends Pick<Data, "db" | "log" | "vault" | "close"> {
  folder: string;
}

/** All of a server but its port. */
async function createReplica(
  { db, log: ownLog, vault, folder }: Kept,
  clock: () => number,
  options: Options & { config: Partial<Config> },
) {
  const embedder = options.embedder ?? fakeEmbedder();
  const { publicUrl = "http://localhost:7733" } = options.config;
  const { fetchDocument, memberQuota } = options;
  const access = createAccess({
    ...{ db, clock, publicUrl, setUpToken: SET_UP_TOKEN, fetchDocument },
    memberQuota: memberQuota ?? null,
  });
  const keys = createKeys({ db, clock });
  const lancedb = await loadLanceDb(testCacheDir);
  const metrics = createMetrics();
  const memoryLog = options.wrapLog?.(ownLog) ?? ownLog;
  const wrapped = options.wrap?.(lancedb) ?? lancedb;
  const store = await openStore({
    storage: createStorage({
      ...{ lancedb: wrapped, folder, log: memoryLog },
      wanted: embedder.model,
      ...(vault && { shared: vault }),
    }),
    embedders: createEmbedders(embedder, options.openRecorded),
    logger: options.log ?? silentLog,
    metrics,
    quotaOf: createQuotas({ db, ofMembers: options.memberQuota ?? null }).of,
    viewMemory: options.viewMemory,
    ...(options.due && { due: options.due }),
    clock,
    expiry: options.expiry,
  });
  const log = options.log ?? silentLog;
  const uses = createUses({ db, store, clock, log });
  const memories = createMemories({
    store,
    idempotency: createIdempotency({ log: memoryLog, clock }),
    timesFound: uses.timesFound,
    clock,
    metrics,
  });
  const securityLog = createSecurityLog({ db, clock, log });
  const activity = createActivity({ db, clock, log });
  const undoable = createUndoable({ db, memories, clock, log, admit: access.spaces.admit });
  const app = createApp({
    access,
    progress: createProgressFiles(join(folder, "..", "captured")),
    securityLog,
    activity,
    uses,
    undoable,
    config: { ...APP_CONFIG, publicUrl, ...options.config },
    memories,
    keys,
    log,
    metrics,
    checks: options.checks ?? { database: () => "ok" },
    serverStatus: options.serverStatus ?? null,
    ...(options.drain && { drain: options.drain }),
    idleTimeout: options.idleTimeout,
  });
  return { access, keys, memories, memoryLog, store, securityLog, activity, uses, undoable, app };
}

/** Opens what so many servers keep. */
async function openKept(root: string, count: number): Promise<{ kept: Kept[]; drop(): void }> {
  const folders = Array.from({ length: count }, (_, number) => join(root, `${number || ""}`));
  const tables = folders.map((folder) => join(folder, "memories"));
  for (const folder of tables) mkdirSync(folder, { recursive: true });
  if (count === 1) {
    const db = openDatabase(root);
    const [folder = ""] = tables;
    const kept = { db, log: createSqliteLog({ db }), folder, close: db.close };
    return { kept: [kept], drop() {} };
  }
  const place = await newSharedPlace();
  const open = async (folder: string) => ({ ...(await place.open(folder)), folder });
  return { kept: await Promise.all(tables.map(open)), drop: place.drop };
}

/**
 * Starts the real server on a free port, with its data in a temporary folder and a clock that the
 * test moves. `await using` ends it with the test; a whole file shares one by
 * `afterAll(server.close)`.
 */
export async function startServer(options: Options = {}) {
  const folder = options.dataDir ?? mkdtempSync(join(tmpdir(), "ctxd-test-"));
  const clock = testClock();
  const { kept, drop } = await openKept(folder, options.dataDir ? 1 : REPLICAS);
  const replicas: Awaited<ReturnType<typeof createReplica>>[] = [];
  let turn = 0;
  // Listens before there is an app, which must know its origin. A port that is only looked up beforehand may be
  // taken by another program in the meantime.
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    idleTimeout: options.idleTimeout ?? IDLE_TIMEOUT,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request) =>
      replicas[turn++ % replicas.length]?.app.fetch(request) ?? new Response(null, { status: 503 }),
  });
  const { port } = server;
  if (port === undefined) throw new Error("the server does not listen");
  const origin = `http://localhost:${port}`;
  const { config: given = {} } = options;
  const config = typeof given === "function" ? await given(origin) : given;
  const create = (each: Kept) =>
    createReplica(each, options.clock ?? clock, { ...options, config });
  replicas.push(...(await Promise.all(kept.map(create))));
  // As Elysia listens, but for the turns.
  for (const replica of replicas) replica.app.server = server;
  const [first] = replicas;
  const [{ db } = {}] = kept;
  if (!first || !db) throw new Error("there is no server");
  const { access, keys, memories, memoryLog, app } = first;
  const { accounts, invitations, quotas, sessions, oauth, factors, ephemeral } = access;
  const { spaces, spaceInvitations } = access;
  let lastAccount = 0;

  const close = async () => {
    for (const replica of replicas) await replica.app.stop(true);
    for (const replica of replicas) await replica.undoable.close();
    for (const replica of replicas) await replica.uses.close();
    for (const replica of replicas) await replica.store.close();
    for (const replica of replicas) await replica.securityLog.close();
    for (const replica of replicas) await replica.activity.close();
    for (const each of kept) await each.close();
    drop();
    if (!options.dataDir) rmSync(folder, { recursive: true, force: true });
  };

  return {
    origin,
    port,
    store: first.store,
    clock,
    accounts,
    invitations,
    spaces,
    spaceInvitations,
    quotas,
    keys,
    memories,
    /** With replicas it is PostgreSQL, without the parts that only SQLite has. */
    db: db as SqliteDatabase,
    /** All rows of a table of the database, whichever kind that is. */
    rows: (table: string): unknown[] | Promise<unknown[]> =>
      "sqlite" in db
        ? (db as SqliteDatabase).sqlite.query(`SELECT * FROM ${table}`).all()
        : (db as PostgresDatabase).postgres.query(`SELECT * FROM ${table}`),
    /** Of memories. */
    log: memoryLog,
    sessions,
    oauth,
    factors,
    ephemeral,
    folder,
    securityLog: {
      ...first.securityLog,
      flush: async () => {
        for (const replica of replicas) await replica.securityLog.flush();
      },
    },
    undoable: first.undoable,
    activity: {
      ...first.activity,
      flush: async () => {
        for (const replica of replicas) await replica.activity.flush();
      },
    },
    uses: {
      ...first.uses,
      flush: async () => {
        for (const replica of replicas) await replica.uses.flush();
      },
    },
    /** All that it answers, patterns as they are. */
    routes: app.routes.map(({ method, path }) => ({ method, path })),
    close,
    [Symbol.asyncDispose]: close,

    /** A new account with a key of these scopes, and a client that uses it. */
    async account(scopes: readonly Scope[] = SCOPES): Promise<Client & { accountId: string }> {
      const email = `account-${++lastAccount}@example.com`;
      const { id: accountId } = await accounts.add({ email, password: null });
      return { accountId, ...(await this.client(accountId, scopes)) };
    },

    /** A client with a new key of an account. */
    async client(
      accountId: string,
      scopes: readonly Scope[] = SCOPES,
      bound: Bound | null = null,
      spaceId: string | null = null,
    ): Promise<Client> {
      const wanted = { name: "test", scopes, expiresAt: null, bound, spaceId };
      const { key } = await keys.create(accountId, wanted);
      return createClient(origin, key);
    },
  };
}
