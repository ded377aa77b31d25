import type { Config } from "../config.ts";
import { bridge } from "../mcp/bridge.ts";
import { createRelay } from "../mcp/relay.ts";
import type { Environment } from "./failure.ts";
import { reachOwnServer } from "./own-server.ts";
import { atMost, untilStopped } from "./stop.ts";
import { print } from "./terminal.ts";

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
  const server = reachOwnServer(config, env);
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
