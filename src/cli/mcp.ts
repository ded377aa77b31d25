import { projectOfFolder } from "../capture/project.ts";
import type { Config } from "../config.ts";
import { createId } from "../db/id.ts";
import { problemOf } from "../input-kinds.ts";
import { bridge } from "../mcp/bridge.ts";
import { createForwarder, type Forward } from "../mcp/forwarder.ts";
import type { LocalServer } from "../mcp/local-server.ts";
import { createRoots } from "../mcp/roots.ts";
import { Project } from "../memories/memory.ts";
import { untilStopped } from "../server/stop.ts";
import { withTimeLimit } from "../time-limit.ts";
import type { Environment } from "./failure.ts";
import { reachOwnServer } from "./own-server.ts";
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
  const { project, projectOnly = false } = options;
  const bound = project === undefined ? null : { project, only: projectOnly };
  const server = reachOwnServer(config, env, bound);
  // The first message finds the server started; what keeps it from starting is the answer to that.
  server.connect().catch(() => {});

  const inputEnd = Promise.withResolvers<void>();
  const clientEnd = Promise.withResolvers<void>();
  const write = (line: string) => print(line).catch(() => clientEnd.resolve());
  const work = bridge({
    input: untilEnd(inputEnd.resolve),
    write,
    relay: relayOf(options, { server, write }),
  });
  await Promise.race([
    untilStopped(),
    clientEnd.promise,
    // Who does not read the answers can't keep the program from ending.
    inputEnd.promise.then(() => withTimeLimit(work, GRACE, () => {})),
    work,
  ]);
  server.close();
  // The input may still be open, and would keep the program running.
  process.exit(0);
}

/** A conversation lasts as long as the program does: agents start one for each. */
function relayOf(
  { agent, project }: AgentOptions,
  to: { server: LocalServer; write: (line: string) => Promise<void> },
): Forward {
  const sessionId = createId("session", Date.now());
  const given = { ...(agent !== undefined && { agent }), sessionId };
  // Who is bound works on that project, whatever the folder.
  if (project !== undefined) return createForwarder({ ...to, sender: given });
  const roots = createRoots(to.write);
  const sender = {
    ...given,
    get project() {
      const folders = roots.folders();
      return projectOfFirst(folders.length > 0 ? folders : [process.cwd()]);
    },
  };
  return roots.around(createForwarder({ ...to, sender }));
}

/** The project of the first of these folders that has one which can be a memory's. */
function projectOfFirst(folders: readonly string[]): string | null {
  const projects = folders.values().map(projectOfFolder);
  return projects.find((name) => name !== null && problemOf(Project, name) === null) ?? null;
}

/** Standard input, and a call when it has ended. */
async function* untilEnd(onEnd: () => void): AsyncGenerator<Uint8Array> {
  yield* Bun.stdin.stream();
  onEnd();
}
