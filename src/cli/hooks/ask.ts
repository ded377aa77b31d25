import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { ownCommand } from "../../server/invocation.ts";
import { fetchOnSocket } from "../../system/local-socket.ts";
import { IN_BACKGROUND } from "../../system/processes.ts";
import type { Environment } from "../context.ts";

/** Milliseconds that an agent waits for a busy server. */
const TIMEOUT_MS = 5_000;

/** Paths of the endpoints that hooks call. */
type HookPath = "/api/memories/capture" | "/api/memories/recall";

/**
 * Sends a hook's request to the server of the data folder, once: the agent waits for the hook.
 * @returns null when no server runs, or when it does not answer in time
 * @throws when the server refuses the request
 */
export async function sendFromHook(
  { dataDir }: Pick<Config, "dataDir">,
  path: HookPath,
  body: unknown,
): Promise<unknown> {
  let response: Response;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    response = await fetchOnSocket(dataDir, path, { ...postJson(body), signal });
  } catch {
    return null;
  }
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return response.json();
}

/** Makes an API request from a JSON body. */
export function postJson(body: unknown) {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}

/**
 * Repeats the request in a separate process, which waits until a server has started and goes on when this
 * one ends.
 */
export function sendLater(
  { dataDir, cacheDir }: Config,
  words: readonly string[],
  env: Environment,
  body: unknown,
) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, `.hook-${crypto.randomUUID()}`);
  try {
    writeFileSync(file, JSON.stringify(body), { mode: 0o600 });
    const input = openSync(file, "r");
    try {
      Bun.spawn([...ownCommand, ...words, "--later", "--data-dir", dataDir], {
        stdin: input,
        stdout: "ignore",
        stderr: "ignore",
        ...IN_BACKGROUND,
        env: { ...env, CTXD_CACHE_DIR: cacheDir },
      }).unref();
    } finally {
      closeSync(input);
    }
  } finally {
    // The new process has the file open and can still read it.
    rmSync(file, { force: true });
  }
}
