import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { findLocalOwner } from "../accounts/local-owner.ts";
import { createQuotas } from "../accounts/quotas.ts";
import type { Access } from "../app.ts";
import { checkRecipients } from "../backup/age.ts";
import { removeLeftBehind } from "../backup/copy-state.ts";
import { createBackup } from "../backup/create-backup.ts";
import { type Schedule, scheduleBackups } from "../backup/schedule.ts";
import { originOf } from "../backup/series.ts";
import { refuseUnfinishedRestore } from "../backup/unfinished-restore.ts";
import type { Config } from "../config.ts";
import { lockDataFolder } from "../db/data-lock.ts";
import type { Database } from "../db/database.ts";
import { databasePath, openSqlite } from "../db/sqlite.ts";
import { readChoice } from "../embedding/choice.ts";
import { openChosenModel, openRecordedModel } from "../embedding/chosen-model.ts";
import { createEmbedders, type Embedders } from "../embedding/embedders.ts";
import { messageOf } from "../errors.ts";
import { createDrain } from "../http/drain.ts";
import { createKeys } from "../keys/keys.ts";
import type { Log } from "../log.ts";
import { createLocalSocket, type OpenSocket } from "../mcp/local-socket.ts";
import { createIdempotency } from "../memories/idempotency.ts";
import type { Log as MemoryLog } from "../memories/log/log.ts";
import { createSqliteLog } from "../memories/log/sqlite-log.ts";
import { createMemories } from "../memories/memories.ts";
import { watchRemovedAccounts } from "../memories/removed-accounts.ts";
import { createStorage } from "../memories/storage.ts";
import { openStore, type Store, storeToCome } from "../memories/store.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import { loadLanceDb, prepareForLanceDb } from "../native/lancedb.ts";
import { createSecurityLog, type SecurityLog } from "../security-log/security-log.ts";
import { keepSecurityLogSmall } from "../security-log/upkeep.ts";
import { type Background, untilUnused } from "./background.ts";
import { createChecks } from "./checks.ts";
import { CommandError, type Environment } from "./failure.ts";
import { giveBackMemory } from "./give-back.ts";
import { greet } from "./greeting.ts";
import { createPort } from "./listen.ts";
import { settlePort } from "./port.ts";
import { measureProcess } from "./process-metrics.ts";
import { setUpLink } from "./set-up-link.ts";
import { atMost, endWithin, untilStopped } from "./stop.ts";
import { takeOverDataFolder } from "./take-over.ts";
import { logUnhandled } from "./unhandled.ts";

/** Seconds that requests under way have to end at shutdown. */
const SHUTDOWN_TIMEOUT = 10;
/** Seconds that all of the shutdown may take: both of these, then the tables and the model. */
const STOP_LIMIT = 40;

/**
 * Runs the server until SIGINT or SIGTERM. Resolves when all that was begun is done.
 * @param background for a server that bridges started: it also ends when nobody uses it, and opens
 * its port for the dashboard alone, when it is asked to over its socket
 */
export async function serve(
  settings: Config,
  log: Log,
  env: Environment,
  background: Background | null = null,
): Promise<void> {
  if (background && settings.shared) {
    throw new CommandError("A server on data that several share runs in no background.");
  }
  prepareForLanceDb();
  // What is opened is closed in reverse order, also when the next step fails.
  await using opened = new AsyncDisposableStack();
  opened.defer(logUnhandled(log));
  opened.defer(giveBackMemory());
  const { config, giveBack } = settlePort(settings);
  opened.defer(giveBack);
  if (background) giveBack();
  const clock = Date.now;
  const metrics = createMetrics();
  measureProcess(metrics);
  const lock = background
    ? lockDataFolder(config.dataDir, version, true)
    : await takeOverDataFolder(config.dataDir, version);
  opened.defer(lock.release);
  refuseUnfinishedRestore(config.dataDir);
  await checkRecipients(config.backupRecipients);
  await removeLeftBehind(config.dataDir, true);
  // The model loads while the rest starts, be it of this program; requests that need it wait for it.
  const embedder = await openChosenModel({
    ...config,
    ...(await readChoice(config)),
    log,
    metrics,
  });
  const embedders = createEmbedders(embedder, (model) =>
    openRecordedModel(model, { cacheDir: config.cacheDir, log }),
  );
  opened.defer(embedders.close);
  const { createAccess, createApp } = await import("../app.ts");
  const db = openSqlite(databasePath(config.dataDir));
  opened.defer(db.close);
  const securityLog = createSecurityLog({ db, clock, log });
  opened.defer(securityLog.close);
  const access = createAccess({ db, clock, publicUrl: config.publicUrl });
  const { accounts } = access;
  const keys = createKeys({ db, clock });
  const memoryLog = createSqliteLog({ db });
  const opening = openMemories(config, memoryLog, { db, embedders, lines: log, metrics });
  const store = storeToCome(opening);
  opened.defer(store.close);
  const memories = createMemories({
    store,
    idempotency: createIdempotency({ log: memoryLog, clock }),
    clock,
    decay: config.decay,
  });

  const schedule =
    config.backups && createSchedule(config, config.backups, access, { securityLog, log, metrics });
  const local = createLocalSocket({
    ownerId: async () => (await findLocalOwner(accounts)).id,
    hasAccount: async (id) => (await accounts.find(id)) !== null,
  });
  const drain = createDrain();
  const app = createApp({
    config,
    drain,
    access,
    local: local.principalOf,
    memories,
    keys,
    securityLog,
    log,
    metrics,
    checks: createChecks({ dataDir: config.dataDir, db, opening, embedder, backups: schedule }),
  });
  let lastRequest = 0;
  app.onRequest(() => {
    lastRequest = performance.now();
  });
  const address = config.publicUrl;
  const port = createPort(app, config, { log, metrics });
  const setUp = async () =>
    (await accounts.isSetUp()) ? null : setUpLink(address, access.setUpToken);
  const openDashboard = async () => {
    port.open();
    lock.announce(address);
    const link = config.registration === "closed" ? null : await setUp();
    if (link && background) log.info("waiting_for_owner", { link });
    return { address, setUp: link };
  };
  const answer = async (request: Request) => app.fetch(request);
  // Agents and monitors do not wait long: what needs no memories is answered before the tables are
  // open.
  const socket = listenLocally(local, config.dataDir, { answer, openDashboard }, log);
  opened.defer(() => atMost(SHUTDOWN_TIMEOUT * 1000, socket?.close() ?? Promise.resolve()));
  opened.defer(() => atMost(SHUTDOWN_TIMEOUT * 1000, port.stop()));
  giveBack();
  if (!background) await openDashboard();
  await opening;
  opened.defer(watchRemovedAccounts({ store, accounts, log }));
  const days = config.securityLogDays;
  opened.defer(await securityLog.tellCommands());
  opened.defer(keepSecurityLogSmall({ securityLog, days, clock, log }));
  if (schedule) {
    schedule.start();
    opened.defer(schedule.stop);
  }
  if (!background) {
    greet(config, env, { address, setUp: await setUp() });
    const signal = await untilStopped();
    drain.begin();
    // A load balancer needs its time to notice; a person at a terminal does not want to wait.
    if (config.shared && signal === "SIGTERM") await Bun.sleep(config.shared.drainSeconds * 1000);
  } else if (socket) {
    log.info("started", { version, pid: process.pid });
    await untilUnused(background, socket, () => lastRequest);
  } else throw new CommandError("No socket can be made in the data folder: use ctxd serve.");
  log.info("stopping");
  endWithin(STOP_LIMIT * 1000, () => log.error("stop_took_too_long", { seconds: STOP_LIMIT }));
}

async function openMemories(
  { dataDir, cacheDir, memberQuota, memoryBytes }: Config,
  log: MemoryLog,
  { db, ...parts }: { db: Database; embedders: Embedders; lines: Log; metrics: Metrics },
): Promise<Store> {
  const folder = join(dataDir, "memories");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lancedb = await loadLanceDb(cacheDir);
  const wanted = parts.embedders.wanted.model;
  const storage = createStorage({ lancedb, folder, log, wanted });
  const quotaOf = createQuotas({ db, ofMembers: memberQuota }).of;
  return openStore({ storage, quotaOf, room: memoryBytes ?? undefined, ...parts });
}

/** Backups of the server's own data, as the settings want them. */
function createSchedule(
  { dataDir, cacheDir, backupRecipients: recipients }: Config,
  settings: NonNullable<Config["backups"]>,
  { accounts }: Pick<Access, "accounts">,
  { securityLog, log, metrics }: { securityLog: SecurityLog; log: Log; metrics: Metrics },
): Schedule {
  const clock = Date.now;
  const lock = recipients.length > 0 ? { recipients } : null;
  const create = async (folder: string, signal: AbortSignal) => {
    const lancedb = await loadLanceDb(cacheDir);
    const manifest = await createBackup({
      ...{ dataDir, folder, version, lancedb, clock, lock, signal },
    });
    const subject = lock ? "encrypted" : null;
    securityLog.record("backup_created", { accountId: null, via: "server", subject });
    return manifest;
  };
  const origin = async () => {
    const owner = await accounts.findOwner();
    return owner && originOf(owner.id);
  };
  return scheduleBackups({ settings, create, origin, clock, log, metrics });
}

/** Returns null where the file system of the data folder knows no sockets. */
function listenLocally(
  local: ReturnType<typeof createLocalSocket>,
  dataDir: string,
  doors: Omit<Parameters<typeof local.listen>[1], "version">,
  log: Log,
): OpenSocket | null {
  try {
    return local.listen(dataDir, { version, ...doors });
  } catch (error) {
    const cause = messageOf(error);
    log.warn("no_local_socket", { cause });
    return null;
  }
}
