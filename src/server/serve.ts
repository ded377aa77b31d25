import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import type { Access } from "../access/access.ts";
import { findLocalOwner } from "../accounts/accounts.ts";
import { createActivity } from "../activity/activity.ts";
import { checkRecipients } from "../backup/age.ts";
import { removeAbandonedCopies } from "../backup/copy-state.ts";
import { refuseUnfinishedRestore } from "../backup/source.ts";
import { createProgressFiles } from "../capture/progress.ts";
import { projectOfFolder } from "../capture/project.ts";
import type { Config } from "../config/config.ts";
import type { Environment } from "../config/settings.ts";
import { type DataLock, lockDataFolder, readOwner } from "../db/data-lock.ts";
import {
  createEmbedders,
  type Embedders,
  openChosenModel,
  openRecordedModel,
} from "../embedding/chosen-model.ts";
import { defaultEngines } from "../embedding/engine-pool.ts";
import { readChoice } from "../embedding/model-choice.ts";
import { messageOf, stackOf } from "../errors.ts";
import { createDrain, type Drain } from "../http/load/drain.ts";
import { createKeys } from "../keys/keys.ts";
import { createLocalSocket, type OpenSocket, requestStop } from "../local/local-socket.ts";
import type { Log } from "../log.ts";
import { watchRemovedAccounts } from "../memories/background/removed-accounts.ts";
import { createIdempotency } from "../memories/rules/idempotency.ts";
import { createMemories } from "../memories/rules/memories.ts";
import { deferredStore } from "../memories/store/store.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import { prepareForLanceDb } from "../native/lancedb.ts";
import { createSecurityLog } from "../security-log/security-log.ts";
import { SET_UP_PATH } from "../sign-in/paths.ts";
import { readResources } from "../system/processes.ts";
import { startPruning } from "../timing/loop.ts";
import { withTimeLimit } from "../timing/time-limit.ts";
import { createUndoable } from "../undo/undoable.ts";
import { createUses } from "../uses/uses.ts";
import { createServerBackups } from "./backup-schedule.ts";
import { createChecks } from "./checks.ts";
import { createPort, reservePort } from "./listen.ts";
import { measureProcess, releaseMemoryWhenIdle } from "./process-memory.ts";
import { ServerError, untilReachable } from "./starting.ts";
import { createServerStatus } from "./status.ts";
import { type Background, endWithin, untilStopped, untilUnused } from "./stop.ts";

/**
 * Logs rejected promises that no code awaits. By default such a rejection would end the program.
 * @returns a function that stops this
 */
export function logUnhandled(log: Log): () => void {
  const write = (error: unknown) => log.error("unhandled", { cause: stackOf(error) });
  process.on("unhandledRejection", write);
  return () => void process.off("unhandledRejection", write);
}

/** Milliseconds between two attempts to lock the folder, and after which it gives up. */
const RETRY_AFTER_MS = 20;
const TIMEOUT_MS = 60_000;

/**
 * Locks a data folder for a server that a user starts. It asks a server in the background to stop; bridges
 * then connect to this server and repeat the calls that were not answered.
 * @throws DatabaseError that names the process which holds the folder
 */
async function takeOverDataFolder(dataDir: string, version: string): Promise<DataLock> {
  for (const end = performance.now() + TIMEOUT_MS; ; await Bun.sleep(RETRY_AFTER_MS)) {
    try {
      return lockDataFolder(dataDir, version);
    } catch (error) {
      if (!readOwner(dataDir)?.isBackground || performance.now() > end) throw error;
    }
    await requestStop(dataDir);
  }
}

const DAY = 86_400_000;
/** Seconds that running requests may take at shutdown. */
const SHUTDOWN_TIMEOUT = 10;
/** Seconds for the whole shutdown: the port and the socket, then the tables and the model. */
const STOP_LIMIT = 40;

/** The addresses of a server that has just started. */
export interface Started {
  /** The server's address for a browser on this machine. */
  address: string;
  /** The link that creates the owner's account; null if the server has an owner. */
  setUp: string | null;
}

/**
 * Runs the server until SIGINT or SIGTERM. Resolves when everything is closed.
 * @param onStart called once the server answers; never with `background`
 * @param background for a server that another command started. It also ends when nobody uses it, and opens
 * its port only when a request over its socket asks for the dashboard
 */
export async function serve(
  settings: Config,
  log: Log,
  {
    env,
    onStart,
    background = null,
  }: {
    env: Environment;
    onStart: (started: Started) => void;
    background?: Background | null;
  },
): Promise<void> {
  if (background && settings.shared) {
    throw new ServerError(
      "A server on data that several servers share can't run in the background.",
    );
  }
  prepareForLanceDb();
  // Closes everything in reverse order, also when a later step fails.
  await using opened = new AsyncDisposableStack();
  opened.defer(logUnhandled(log));
  opened.defer(releaseMemoryWhenIdle());
  const { config, releasePort } = reservePort(settings);
  opened.defer(releasePort);
  if (background) releasePort();
  const clock = Date.now;
  const metrics = createMetrics();
  measureProcess(metrics);
  const lock = background
    ? lockDataFolder(config.dataDir, version, true)
    : await takeOverDataFolder(config.dataDir, version);
  opened.defer(lock.release);
  refuseUnfinishedRestore(config.dataDir);
  await checkRecipients(config.backupRecipients);
  await removeAbandonedCopies(config.dataDir, true);
  const embedders = await openEmbedders(config, log, metrics);
  opened.defer(embedders.close);
  // These take a fifth of a second to load. The model loads meanwhile, on another thread.
  const { createAccess } = await import("../access/access.ts");
  const { createApp } = await import("../app.ts");
  const { openData, openMemories } = await import("./open-data.ts");
  const data = await openData(config, { logger: log, metrics });
  opened.defer(data.close);
  const { db } = data;
  const securityLog = createSecurityLog({ db, clock, log });
  opened.defer(securityLog.close);
  const activity = createActivity({ db, clock, log });
  opened.defer(activity.close);
  const { publicUrl, memberQuota } = config;
  const access = createAccess({ db, clock, publicUrl, memberQuota });
  const { accounts } = access;
  const keys = createKeys({ db, clock });
  const opening = openMemories(config, data, { embedders, logger: log, metrics });
  const store = deferredStore(opening);
  opened.defer(store.close);
  const uses = createUses({ db, store, clock, log });
  opened.defer(uses.close);
  const memories = createMemories({
    ...{ store, clock, metrics, decay: config.decay, timesFound: uses.timesFound },
    idempotency: createIdempotency({ log: data.log, clock }),
  });
  const undoable = createUndoable({ db, memories, clock, log, admit: access.spaces.admit });
  opened.defer(undoable.close);

  const backups = await createServerBackups(config, { accounts, securityLog, log, metrics });
  const local = localSocketOf(access);
  const drain = createDrain();
  const app = createApp({
    config,
    drain,
    access,
    local: local.principalOf,
    // What reads the agents' settings takes long to load.
    capturing: async () => (await import("../connect/capturing.ts")).capturingClients(env),
    progress: createProgressFiles(join(config.dataDir, "captured")),
    projectOf: projectOfFolder,
    memories,
    keys,
    securityLog,
    activity,
    uses,
    undoable,
    log,
    metrics,
    checks: createChecks({ config, data, opening, embedder: embedders.wanted, backups }),
    serverStatus: createServerStatus({
      config,
      env,
      store,
      backups,
      clock,
      model: embedders.wanted.model,
    }),
  });
  let lastRequest = 0;
  app.onRequest(() => {
    lastRequest = performance.now();
  });
  const address = config.publicUrl;
  const port = createPort(app, config, { log, metrics });
  // The token proves that a visitor got the link from the server's operator.
  const setUp = async () =>
    (await accounts.isSetUp())
      ? null
      : `${address}${SET_UP_PATH}?token=${await access.setUpToken.issue()}`;
  const openDashboard = async () => {
    port.open();
    lock.announce(address);
    const link = config.registration === "closed" ? null : await setUp();
    if (link && background) log.info("waiting_for_owner", { link });
    return { address, setUp: link };
  };
  const answer = async (request: Request) => app.fetch(request);
  // The socket listens before the tables are open: agents and monitors do not wait long for an answer.
  const socket = listenLocally(local, config.dataDir, { answer, openDashboard }, log);
  opened.defer(async () => {
    if (socket) await withTimeLimit(socket.close(), SHUTDOWN_TIMEOUT * 1000, () => {});
  });
  opened.defer(() => withTimeLimit(port.stop(), SHUTDOWN_TIMEOUT * 1000, () => {}));
  releasePort();
  if (!background) await openDashboard();
  await opening;
  opened.defer(watchRemovedAccounts({ store, accounts, log }));
  opened.defer(await untilReachable(securityLog.logCommands, log));
  const warn = (event: string) => (error: unknown) => log.warn(event, { cause: messageOf(error) });
  const oldest = () => new Date(clock() - config.securityLogDays * DAY);
  const pruneSecurityLog = () => securityLog.prune(oldest());
  opened.defer(startPruning(pruneSecurityLog, warn("security_log_not_pruned")));
  opened.defer(startPruning(activity.prune, warn("activity_not_pruned")));
  backups.start();
  opened.defer(backups.stop);
  if (!background) {
    onStart({ address, setUp: await untilReachable(setUp, log) });
    await untilDrained(drain, config);
  } else if (socket) {
    log.info("started", { version, pid: process.pid });
    await untilUnused(background, socket, () => lastRequest);
    drain.begin();
  } else throw new ServerError("A socket can't be created in the data folder: use ctxd serve.");
  log.info("stopping");
  endWithin(STOP_LIMIT * 1000, () => log.error("stop_took_too_long", { seconds: STOP_LIMIT }));
}

/** Waits for a stop signal, and then for load balancers to notice it. Ctrl-C in a terminal does not wait for them. */
async function untilDrained(drain: Drain, { shared }: Config): Promise<void> {
  const signal = await untilStopped();
  drain.begin();
  if (shared && signal === "SIGTERM") await Bun.sleep(shared.drainSeconds * 1000);
}

/** Opens the embedding model. It loads while the rest of the server starts; requests that need it wait. */
async function openEmbedders(config: Config, log: Log, metrics: Metrics): Promise<Embedders> {
  const choice = await readChoice(config);
  const engines = config.engines ?? defaultEngines(readResources());
  const embedder = await openChosenModel({ ...config, ...choice, log, metrics, engines });
  return createEmbedders(embedder, (model) =>
    openRecordedModel(model, { cacheDir: config.cacheDir, log }),
  );
}

function localSocketOf({ accounts, spaces }: Pick<Access, "accounts" | "spaces">) {
  return createLocalSocket({
    ownerId: async () => (await findLocalOwner(accounts)).id,
    hasAccount: async (id) => (await accounts.find(id)) !== null,
    hasSpaces: async (id) => ((await spaces.admit(id))?.spaces ?? []).length > 0,
  });
}

/** Returns null if the file system of the data folder does not support sockets. */
function listenLocally(
  local: ReturnType<typeof createLocalSocket>,
  dataDir: string,
  handlers: Omit<Parameters<typeof local.listen>[1], "version">,
  log: Log,
): OpenSocket | null {
  try {
    return local.listen(dataDir, { version, ...handlers });
  } catch (error) {
    const cause = messageOf(error);
    log.warn("no_local_socket", { cause });
    return null;
  }
}
