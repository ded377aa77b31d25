import { join } from "node:path";
import { projectOfFolder } from "../../capture/project.ts";
import type { CaptureRequest } from "../../capture/requests.ts";
import { keepUnsent, ServerAway, unsentIn } from "../../capture/unsent.ts";
import type { Config } from "../../config/config.ts";
import { messageOf } from "../../errors.ts";
import type { Environment } from "../context.ts";
import { CAPTURE, type HookPath, postJson, type RecallBody, runLater } from "../hooks.ts";
import { CommandError, usageError } from "../terminal.ts";
import {
  createRemoteServer,
  keptKey,
  messageIn,
  missingKey,
  serverFolder,
} from "./remote-server.ts";
import { parseOrigin } from "./url.ts";

/** Milliseconds that an agent waits with each prompt for a server that may be away. */
const RECALL_PATIENCE = { beginning: 2_000, end: 2_000 };
/** Milliseconds before further attempts to send what was captured. Later, the next hook or session tries again. */
const PAUSES_MS = [1_000, 5_000, 20_000, 60_000];

/** Codes of errors that the same request gets again. A key that may not save there counts, too. */
const FINAL = new Set([
  "malformed_json",
  "malformed_request",
  "forbidden",
  "too_large",
  "validation_failed",
]);

type Place = Pick<Config, "dataDir">;

/** Parses the address of a server. @throws CommandError */
export function parseServer(text: string): URL {
  try {
    return parseOrigin(text);
  } catch (error) {
    throw usageError(`--url: ${messageOf(error)}`);
  }
}

const unsentFolder = (config: Place, url: URL) => join(serverFolder(config, url), "unsent");

/**
 * Recalls from a remote server, which can't see this machine's folders: the project is found here.
 * @throws ServerAway, and CommandError with the server's reason when it refuses
 */
export async function recallRemotely(
  config: Place,
  url: URL,
  { path, body }: { path: HookPath; body: RecallBody },
  agent?: string,
): Promise<unknown> {
  const { folder, ...rest } = body;
  const project = rest.project ?? (folder === undefined ? null : await projectOfFolder(folder));
  const server = createRemoteServer(url, () => keptKey(config, url), RECALL_PATIENCE);
  const response = await server.request(path, postJson({ ...rest, project }, agent));
  if (response.ok) return response.json();
  throw new CommandError(await messageIn(response));
}

/**
 * Keeps what a hook has captured for a remote server, and starts the process that sends it: the agent does not wait
 * for the network.
 * @throws CommandError without a key for the server
 */
export async function captureRemotely(
  config: Config,
  url: URL,
  body: CaptureRequest,
  env: Environment,
): Promise<void> {
  if (keptKey(config, url) === null) throw new CommandError(missingKey(url));
  await keepUnsent(unsentFolder(config, url), body);
  sendKeptLater(config, url, env);
}

/** Starts the process that sends what is kept for a server, if anything is. */
export function sendKeptLater(config: Config, url: URL, env: Environment): void {
  if (unsentIn(unsentFolder(config, url)).length === 0) return;
  runLater(config, ["capture", "--url", url.origin], env);
}

/**
 * Sends what is kept for a server, one process at a time. Tries for a minute and a half while the server is away.
 * @throws ServerAway
 */
export async function sendKept(config: Place, url: URL): Promise<void> {
  const [{ sendUnsent }, { createProgressFiles }, { lockFile }] = await Promise.all([
    import("../../capture/send-unsent.ts"),
    import("../../capture/progress.ts"),
    import("../../db/data-lock.ts"),
  ]);
  const server = createRemoteServer(url, () => keptKey(config, url));
  const send = async (body: CaptureRequest) => {
    const response = await server.request(CAPTURE, postJson(body));
    if (response.ok) return;
    const { error } = Object(await response.json().catch(() => null));
    if (!FINAL.has(Object(error).code)) throw new ServerAway(`${url.origin} does not save now.`);
  };
  const folder = unsentFolder(config, url);
  const progress = createProgressFiles(join(serverFolder(config, url), "captured"));
  const sendAll = () => sendUnsent({ folder, progress, projectOf: projectOfFolder, send });
  let left = new Set<string>();
  // Looks again after the lock is released: the process of a hook that has kept more in the meantime has given up.
  while (unsentIn(folder).some((name) => !left.has(name))) {
    const lock = lockFile(join(serverFolder(config, url), "sending.lock"));
    if (lock === null) return;
    try {
      left = await withPatience(sendAll);
    } finally {
      lock.release();
    }
  }
}

async function withPatience<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const pause of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ServerAway)) throw error;
    }
    await Bun.sleep(pause);
  }
  return work();
}
