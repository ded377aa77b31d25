import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { ownCommand } from "../../server/invocation.ts";
import { IN_BACKGROUND } from "../../system/processes.ts";
import { reachSocketFolder, SOCKET } from "../../system/socket-folder.ts";
import type { Environment } from "../context.ts";

/** Milliseconds that an agent waits for an answer at the most, of a server that is busy. */
const TIMEOUT = 5_000;

/** Where hooks ask the server. */
export type HookPath = "/api/memories/capture" | "/api/memories/recall";

/**
 * Asks the server of the data folder, as hooks do, who have no time: once.
 * @returns null when no server runs, or it does not answer in time
 * @throws when it refuses
 */
export async function askAsHook(
  { dataDir }: Pick<Config, "dataDir">,
  path: HookPath,
  body: unknown,
): Promise<unknown> {
  const reach = reachSocketFolder(dataDir);
  let response: Response;
  try {
    response = await fetch(`http://localhost${path}`, {
      ...asRequest(body),
      unix: join(reach.path, SOCKET),
      signal: AbortSignal.timeout(TIMEOUT),
    });
  } catch {
    return null;
  } finally {
    reach.release();
  }
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return response.json();
}

/** A body as a request of the API. */
export function asRequest(body: unknown) {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}

/**
 * Has a program of its own ask the same, which may wait until a server has started, and lives on when
 * this one ends.
 */
export function askLater(
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
        ...{ stdin: input, stdout: "ignore", stderr: "ignore" },
        ...IN_BACKGROUND,
        env: { ...env, CTXD_CACHE_DIR: cacheDir },
      }).unref();
    } finally {
      closeSync(input);
    }
  } finally {
    // Who has it open can read it all the same.
    rmSync(file, { force: true });
  }
}
