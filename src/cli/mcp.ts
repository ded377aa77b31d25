import type { Config } from "../config.ts";
import { createId } from "../db/id.ts";
import { bridge } from "../mcp/bridge.ts";
import { createRelay, type Sender } from "../mcp/relay.ts";
import { Project } from "../memories/memory.ts";
import { problemOf } from "../schema.ts";
import type { Environment } from "./failure.ts";
import { reachOwnServer } from "./own-server.ts";
import { projectOfFolder } from "./project.ts";
import { atMost, untilStopped } from "./stop.ts";
import { print } from "./terminal.ts";

/** Milliseconds that calls under way have to end after the input has. */
const GRACE = 10_000;

/** What `ctxd mcp` is given. */
export interface AgentOptions {
  agent?: string;
  /** The project that the agent is kept to; by default it works on that of the folder, and sees others. */
  project?: string;
  /** Whether it is kept from the memories of no project too. */
  projectOnly?: boolean;
}

/**
 * `ctxd mcp`: speaks MCP on standard input and output, for the local owner of the data folder.
 * Ends with its input, or when told to stop.
 */
export async function connectAgent(
  config: Config,
  options: AgentOptions,
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
    relay: createRelay({ server, sender: senderOf(options), write }),
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

/** A conversation lasts as long as the program does: agents start one for each. */
function senderOf({ agent, project, projectOnly = false }: AgentOptions): Sender {
  const sessionId = createId("session", Date.now());
  const given = { ...(agent !== undefined && { agent }), sessionId };
  if (project !== undefined) return { ...given, bound: { project, only: projectOnly } };
  const folders = projectOfFolder(process.cwd());
  const isUsable = folders !== null && problemOf(Project, folders) === null;
  return { ...given, project: isUsable ? folders : null };
}

/** Standard input, and a call when it has ended. */
async function* untilEnd(onEnd: () => void): AsyncGenerator<Uint8Array> {
  yield* Bun.stdin.stream();
  onEnd();
}
