import type { Command } from "commander";
import { projectOfFolder } from "../../capture/project.ts";
import type { Config } from "../../config.ts";
import { createId } from "../../db/id.ts";
import { problemOf } from "../../input-kinds.ts";
import { bridge } from "../../mcp/bridge.ts";
import { createForwarder, type Forward } from "../../mcp/forwarder.ts";
import type { LocalServer } from "../../mcp/local-server.ts";
import { createRoots } from "../../mcp/roots.ts";
import { AgentId, Project } from "../../memories/memory.ts";
import { untilStopped } from "../../server/stop.ts";
import { withTimeLimit } from "../../time-limit.ts";
import type { Context, Environment } from "../context.ts";
import { examples } from "../help-text.ts";
import { checkProjectOnly, nameParser } from "../name-options.ts";
import { reachOwnServer } from "../own-server.ts";
import { print } from "../terminal.ts";

/** Milliseconds that calls under way have to end after the input has. */
const GRACE = 10_000;

/** What `ctxd mcp` is given. */
interface AgentOptions {
  agent?: string;
  /** The project that the agent is kept to; by default it works on that of the folder, and sees others. */
  project?: string;
  /** Whether it is kept from the memories of no project too. */
  projectOnly?: boolean;
}

/** Adds the command to the program. */
export function define(program: Command, { configure, env }: Context): void {
  program
    .command("mcp")
    .summary("what an agent on this machine starts (MCP over standard input and output)")
    .description(
      "Speaks MCP on standard input and output: an agent on this machine starts it, ctxd connect tells the agent how. Needs no account and no key. Starts a server in the background when none runs; that opens no port, until ctxd dashboard asks it to.",
    )
    .option("--agent <name>", "agent that new memories belong to (agent_id)", nameParser(AgentId))
    .option(
      "--project <name>",
      "keep the agent to a project: it saves to it, and sees it and the memories of none",
      nameParser(Project),
    )
    .option("--project-only", "with --project: not even the memories of none are seen")
    .addHelpText(
      "after",
      `\nWithout --project, new memories belong to the project of the folder that the agent starts it\nin, and searches see it and the memories of none: owner/repo of the git remote origin, or the\nname of the repository's folder. Elsewhere there is no project. An editor that starts it in\nanother folder is asked which one is open (MCP roots).`,
    )
    .addHelpText("after", examples("ctxd mcp --agent cursor", "ctxd mcp --project acme/shop"))
    .action(async (options: AgentOptions, command: Command) => {
      checkProjectOnly(options, command);
      await connectAgent(configure(), options, env);
    });
}

/**
 * `ctxd mcp`: speaks MCP on standard input and output, for the local owner of the data folder.
 * Ends with its input, or when told to stop.
 */
async function connectAgent(
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
    forward: forwarderOf(options, { server, write }),
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
function forwarderOf(
  { agent, project }: AgentOptions,
  to: { server: LocalServer; write: (line: string) => Promise<void> },
): Forward {
  const sessionId = createId("session", Date.now());
  const given = { ...(agent !== undefined && { agent }), sessionId };
  // Who is bound works on that project, whatever the folder.
  if (project !== undefined) return createForwarder({ ...to, source: given });
  const roots = createRoots(to.write);
  const source = {
    ...given,
    get project() {
      const folders = roots.folders();
      return projectOfFirst(folders.length > 0 ? folders : [process.cwd()]);
    },
  };
  return roots.wrap(createForwarder({ ...to, source }));
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
