import { mkdirSync } from "node:fs";
import { version } from "../../package.json" with { type: "json" };
import type { Config } from "../config.ts";
import { isLocked } from "../db/data-lock.ts";
import { bridge } from "../mcp/bridge.ts";
import { createLocalServer, type StartedServer } from "../mcp/local-server.ts";
import { createRelay } from "../mcp/relay.ts";
import { IDLE_SECONDS } from "./background.ts";
import type { Environment } from "./failure.ts";
import { ownCommand } from "./invocation.ts";
import { atMost, untilStopped } from "./stop.ts";
import { print, say } from "./terminal.ts";

/** Milliseconds that calls under way have to end after the input has. */
const GRACE = 10_000;

/**
 * `ctxd mcp`: speaks MCP on standard input and output, for the local owner of the data folder.
 * Ends with its input, or when told to stop.
 */
export async function connectAgent(
  config: Config,
  { agent }: { agent?: string },
  env: Environment,
): Promise<never> {
  const { dataDir } = config;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  let lastVersion = version;
  const server = createLocalServer({
    dataDir,
    start: () => startServer(config, env),
    isServed: () => isLocked(dataDir),
    onFound(found) {
      if (found === lastVersion) return;
      lastVersion = found;
      if (found === version) return;
      say(`ctxd: this is version ${version}, the server of ${dataDir} is ${found}: restart it.`);
    },
  });
  // The first message finds the server started; what keeps it from starting is the answer to that.
  server.connect().catch(() => {});

  const inputEnd = Promise.withResolvers<void>();
  const clientEnd = Promise.withResolvers<void>();
  const write = (line: string) => print(line).catch(() => clientEnd.resolve());
  const work = bridge({
    input: untilEnd(inputEnd.resolve),
    write,
    relay: createRelay({ server, agent: agent ?? null, write }),
  });
  await Promise.race([
    untilStopped(),
    clientEnd.promise,
    // Who does not read the answers can't keep the program from ending.
    inputEnd.promise.then(() => atMost(GRACE, work)),
    work,
  ]);
  server.close();
  // The input may still be open, and would keep the program running.
  process.exit(0);
}

/** Standard input, and a call when it has ended. */
async function* untilEnd(onEnd: () => void): AsyncGenerator<Uint8Array> {
  yield* Bun.stdin.stream();
  onEnd();
}

/** Starts the server as a program of its own, which lives on when this one ends. */
function startServer({ dataDir, cacheDir }: Config, env: Environment): StartedServer {
  const child = Bun.spawn(
    [...ownCommand, "serve", "--background", String(IDLE_SECONDS), "--data-dir", dataDir],
    {
      stdin: "ignore",
      stdout: "ignore",
      // Says why it could not start, and nothing else.
      stderr: "pipe",
      env: { ...env, CTXD_CACHE_DIR: cacheDir },
      detached: true,
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
      return line || "The server in the background ended at once.";
    }),
  };
}
