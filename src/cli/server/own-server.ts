import { version } from "../../../package.json" with { type: "json" };
import type { Config } from "../../config/config.ts";
import { createDataFolder, isLocked } from "../../db/data-lock.ts";
import {
  createLocalServer,
  type LocalServer,
  type RequestLimits,
  type StartedServer,
} from "../../local/local-server.ts";
import { describeProgram, isConfiguredByFolder, ownCommand } from "../../server/invocation.ts";
import { IDLE_SECONDS } from "../../server/stop.ts";
import { IN_BACKGROUND } from "../../system/processes.ts";
import type { Environment } from "../context.ts";
import { say } from "../terminal.ts";
import { describeLoss, noteDataFolder } from "./known-folders.ts";

/**
 * Connects to the server of the data folder, and starts one if none runs.
 * @param limits to what all requests are restricted
 * @param isAgent whether it must not begin anew in a folder that has lost its memories
 */
export function reachOwnServer(
  config: Config,
  env: Environment,
  { isAgent = false, ...limits }: RequestLimits & { isAgent?: boolean } = {},
): LocalServer {
  const { dataDir } = config;
  if (isConfiguredByFolder) {
    say(
      `ctxd: the settings of this folder may have changed which program runs. Start it as ${describeProgram(env)}, and connect agents again (ctxd connect).`,
    );
  }
  let lastVersion = version;
  const start = (): StartedServer => {
    const refusal = config.shared ? NO_START_ON_SHARED : isAgent ? describeLoss(config, env) : null;
    return refusal === null ? startServer(config, env) : { failure: Promise.resolve(refusal) };
  };
  return createLocalServer({
    dataDir,
    limits,
    start,
    isServed: () => isLocked(dataDir),
    onFound(found) {
      noteDataFolder(config, env);
      if (found === lastVersion) return;
      lastVersion = found;
      if (found === version) return;
      say(`ctxd: this is version ${version}, the server of ${dataDir} is ${found}: restart it.`);
    },
  });
}

const NO_START_ON_SHARED =
  "No server runs here, and none is started automatically on data that several servers share: run ctxd serve, or use the address of the servers.";

/** Starts the server as a separate process, which goes on when this one ends. */
function startServer({ dataDir, cacheDir }: Config, env: Environment): StartedServer {
  createDataFolder(dataDir);
  const child = Bun.spawn(
    [...ownCommand, "serve", "--background", String(IDLE_SECONDS), "--data-dir", dataDir],
    {
      stdin: "ignore",
      stdout: "ignore",
      // Contains the reason of a failed start, and nothing else.
      stderr: "pipe",
      env: { ...env, CTXD_CACHE_DIR: cacheDir },
      ...IN_BACKGROUND,
    },
  );
  child.unref();
  return {
    failure: child.stderr.text().then(async (text) => {
      await child.exited;
      const line = text
        .trim()
        .split("\n")
        .at(-1)
        ?.replace(/^ctxd: /, "");
      return line || "The server in the background ended right after its start.";
    }),
  };
}
