import type { Command } from "commander";
import { version } from "../../../package.json" with { type: "json" };
import { projectOfFolder } from "../../capture/project.ts";
import type { Config } from "../../config/config.ts";
import { createId } from "../../db/id.ts";
import {
  bridge,
  createForwarder,
  createRoots,
  type Forward,
  type Server,
} from "../../local/bridge.ts";
import type { LocalServer, RequestLimits } from "../../local/local-server.ts";
import { firstAnswer } from "../../mcp/first-answers.ts";
import { AgentId, Project } from "../../memories/model/memory.ts";
import { untilStopped } from "../../server/stop.ts";
import { problemOf } from "../../text/input-kinds.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import { type Context, type Environment, examples } from "../context.ts";
import { checkProjectOnly, nameParser } from "../options.ts";
import { describeLoss } from "../server/known-folders.ts";
import { reachOwnServer } from "../server/own-server.ts";
import { parseOrigin } from "../server/url.ts";
import { print, say } from "../terminal.ts";

/** Milliseconds that running calls may take after the input has ended. */
const GRACE_MS = 10_000;
/** Milliseconds that a server may take to say its version. */
const LOOK_TIMEOUT_MS = 100;
/** Milliseconds after which a remote server that does not answer counts as away. */
const AWAY_TIMEOUT_MS = 1_000;

interface AgentOptions {
  agent?: string;
  /** The project that the agent is restricted to. By default it works on the folder's and sees others. */
  project?: string;
  /** Whether the memories of no project are hidden too. */
  projectOnly?: boolean;
  /** The space that the agent is restricted to, by name or id, or `personal`. */
  space?: string;
  /** A remote server. By default the server of the data folder. */
  url?: URL;
}

export function define(program: Command, { configure, env }: Context): void {
  program
    .command("mcp")
    .summary("the MCP server that agents on this machine start (over standard input and output)")
    .description(
      "Speaks MCP on standard input and output. An agent on this machine starts it; ctxd connect writes the agent's settings. No account and no key are needed. If no server runs, it starts one in the background, which opens no port until ctxd dashboard asks for one.",
    )
    .option("--agent <name>", "agent name for new memories (agent_id)", nameParser(AgentId))
    .option(
      "--project <name>",
      "restrict the agent to a project: it saves there, and sees that project and memories of no project",
      nameParser(Project),
    )
    .option("--project-only", "with --project: hide the memories of no project too")
    .option("--space <name>", "restrict the agent to a space, or to personal memories: personal")
    .option(
      "--url <url>",
      "a remote server, whose key ctxd connect has kept (default: the memory on this machine)",
      parseOrigin,
    )
    .addHelpText(
      "after",
      `\nWithout --project, the agent works on the project of the folder in which it starts ctxd mcp:\nowner/repo of the git remote origin, or else the name of the repository's folder. Elsewhere\nthere is no project. Searches see that project and the memories of no project. ctxd asks an\neditor that starts it in another folder which folders are open (MCP roots).`,
    )
    .addHelpText(
      "after",
      examples(
        "ctxd mcp --agent cursor",
        "ctxd mcp --project acme/shop",
        "ctxd mcp --url https://memory.example.com",
      ),
    )
    .action(async (options: AgentOptions, command: Command) => {
      checkProjectOnly(options, command);
      for (const bound of ["project", "space"] as const) {
        if (!options.url || options[bound] === undefined) continue;
        command.error(
          `error: with --url a ${bound} needs a key of that ${bound}: ctxd key create --${bound} NAME`,
        );
      }
      await connectAgent(configure(), options, env);
    });
}

/**
 * `ctxd mcp`: speaks MCP on standard input and output, for the local owner of the data folder, or with the key that is
 * kept for a remote server.
 * Ends when its input ends, or on a signal.
 */
async function connectAgent(
  config: Config,
  options: AgentOptions,
  env: Environment,
): Promise<never> {
  const { project, projectOnly = false, space = null, url } = options;
  const bound = project === undefined ? null : { project, only: projectOnly };
  const { server, ownAnswer } = url
    ? await reachRemoteServer(config, url, env)
    : reachServerHere(config, env, { bound, space });
  // Starts the server early. If that fails, the messages that need it are answered with the reason.
  server.connect().catch(() => {});

  const inputEnd = Promise.withResolvers<void>();
  const clientEnd = Promise.withResolvers<void>();
  const write = (line: string) => print(line).catch(() => clientEnd.resolve());
  const work = bridge({
    input: untilEnd(inputEnd.resolve),
    write,
    forward: forwarderOf(options, { server, write, ownAnswer }),
  });
  await Promise.race([
    untilStopped(),
    clientEnd.promise,
    // A client that does not read its answers must not keep the program alive.
    inputEnd.promise.then(() => withTimeLimit(work, GRACE_MS, () => {})),
    work,
  ]);
  server.close();
  // An input that is still open would keep the program alive.
  process.exit(0);
}

/** A server, and what answers a message that needs none, null for all others. */
interface Reached {
  server: Server;
  ownAnswer: (message: unknown) => Promise<string | null>;
}

/** Reaches a remote server. What hooks have kept for it is sent, too. */
async function reachRemoteServer(config: Config, url: URL, env: Environment): Promise<Reached> {
  const { createRemoteServer, keptKey } = await import("../server/remote-server.ts");
  const { sendKeptLater } = await import("../server/remote-hooks.ts");
  sendKeptLater(config, url, env);
  const server = createRemoteServer(url, () => keptKey(config, url));
  return { server, ownAnswer: (message) => answerWhileAway(server, message) };
}

/** While a remote server is away, an agent has the tools nevertheless, and uses them when it is back. */
async function answerWhileAway(server: Server, message: unknown): Promise<string | null> {
  const answer = firstAnswer(message);
  if (answer === null) return null;
  const signal = AbortSignal.timeout(AWAY_TIMEOUT_MS);
  return server.request("/api/health/live", { signal }).then(
    () => null,
    () => answer,
  );
}

function reachServerHere(config: Config, env: Environment, limits: RequestLimits): Reached {
  const server = reachOwnServer(config, env, { ...limits, isAgent: true });
  // The model is told by an error of each call: it would not see that a client failed to connect.
  const loss = describeLoss(config, env);
  if (loss !== null) say(`ctxd: ${loss}`);
  return { server, ownAnswer: (message) => answerWithout(server, message) };
}

/**
 * The answer to a message that needs no server. Some agents ask their model for the first time without tools when such an
 * answer has to wait until a server has started. A server of another version answers for itself, and one whose owner has
 * spaces: it offers more.
 */
async function answerWithout(server: LocalServer, message: unknown): Promise<string | null> {
  const answer = firstAnswer(message);
  if (answer === null) return null;
  const found = await withTimeLimit(server.found(), LOOK_TIMEOUT_MS, () => null);
  return found === null || (found.version === version && !found.hasSpaces) ? answer : null;
}

/** Agents start one process for each conversation, so the process has one session id. */
function forwarderOf(
  { agent, project }: AgentOptions,
  to: Omit<Parameters<typeof createForwarder>[0], "source">,
): Forward {
  const sessionId = createId("session", Date.now());
  const given = { ...(agent !== undefined && { agent }), sessionId };
  // A restricted agent works on that project in every folder.
  if (project !== undefined) return createForwarder({ ...to, source: given });
  const roots = createRoots(to.write);
  const source = {
    ...given,
    project() {
      const folders = roots.folders();
      return projectOfFirst(folders.length > 0 ? folders : [process.cwd()]);
    },
  };
  return roots.wrap(createForwarder({ ...to, source }));
}

/** The project of the first folder that has one with a valid name. */
async function projectOfFirst(folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const name = await projectOfFolder(folder);
    if (name !== null && problemOf(Project, name) === null) return name;
  }
  return null;
}

/** Yields standard input, and calls back at its end. */
async function* untilEnd(onEnd: () => void): AsyncGenerator<Uint8Array> {
  yield* Bun.stdin.stream();
  onEnd();
}
