import type { Command } from "commander";
import { version } from "../../../package.json" with { type: "json" };
import { projectOfFolder } from "../../capture/project.ts";
import type { Config } from "../../config/config.ts";
import { isLocked, readOwner } from "../../db/data-lock.ts";
import { Project } from "../../memories/model/memory.ts";
import type { Stats } from "../../memories/rules/stats.ts";
import { memoryCount, sizeText } from "../../text/number-text.ts";
import { formatDate } from "../../text/short-text.ts";
import type { AgentList } from "../../uses/routes.ts";
import { type Context, type Environment, examples } from "../context.ts";
import { nameParser, targetOptions } from "../options.ts";
import { openApi, type Target } from "../server/api.ts";
import { print, printable, printJson } from "../terminal.ts";
import { clientStates } from "./connect/list.ts";

interface StatusOptions extends Pick<Target, "user" | "space"> {
  /** Default: the project of the folder. */
  project?: string;
  json?: boolean;
}

export function define(program: Command, { configureExisting, env }: Context): void {
  program
    .command("status")
    .summary("show the server, its memories, and which agents are connected")
    .description(
      "Shows whether the server runs, where the data is, how many memories there are in all and in this folder's project, and which agents on this machine are connected.",
    )
    .option("--project <name>", "the project to show (default: this folder's)", nameParser(Project))
    .option("--json", "as JSON")
    .addOption(targetOptions.user())
    .addOption(targetOptions.space())
    .addHelpText("after", examples("ctxd status", "ctxd status --json"))
    .action(async (options: StatusOptions) => {
      const status = await readStatus(configureExisting(), options, env);
      await (options.json ? printJson(status) : print(printable(describe(status))));
    });
}

/** What `ctxd status --json` prints. */
async function readStatus(
  config: Config,
  { project: wanted, ...target }: StatusOptions,
  env: Environment,
) {
  const { dataDir } = config;
  const wasRunning = isLocked(dataDir);
  using api = await openApi(config, env, target);
  const figures = await api.json<Stats>("/api/stats");
  const { agents: activity } = await api.json<AgentList>("/api/agents");
  const owner = readOwner(dataDir);
  const name = wanted ?? (await projectOfFolder(process.cwd()));
  return {
    version,
    data_dir: dataDir,
    server: {
      /** Whether it ran before this command, which starts one. */
      was_running: wasRunning,
      pid: owner?.pid ?? 0,
      version: owner?.version ?? version,
      background: owner?.isBackground ?? false,
      /** The address for browsers; null if no port is open. */
      address: owner?.address ?? null,
    },
    memories: figures.memories,
    bytes: figures.bytes,
    oldest: figures.oldest,
    newest: figures.newest,
    /** The project of the folder, and how many memories it has. */
    project: name === null ? null : { name, memories: countOf(figures, name) },
    /** What agents did in the last 90 days, and what seems to be broken. */
    activity,
    agents: clientStates(env)
      .filter(({ state }) => state !== "not found")
      .map(({ client: { id, name }, state }) => ({ id, name, connected: state === "connected" })),
  };
}
type Status = Awaited<ReturnType<typeof readStatus>>;

function countOf({ projects }: Stats, name: string): number {
  return projects.find(({ project }) => project === name)?.memories ?? 0;
}

function describe(status: Status): string {
  const { server, project } = status;
  const lines = [
    ["server", describeServer(server)],
    ["data", status.data_dir],
    ["memories", describeMemories(status)],
    ...(project === null
      ? []
      : [["project", `${project.name} (${memoryCount(project.memories)})`]]),
    ["agents", describeAgents(status.agents)],
    ...status.activity.slice(0, MAX_SHOWN).map((each) => ["", describeActivity(each)]),
  ];
  return lines.map(([name = "", value]) => `${name.padEnd(8)}  ${value}`).join("\n");
}

function describeServer({ was_running, background, address, ...server }: Status["server"]): string {
  const how = was_running ? "runs" : "was not running; started now";
  const where = address ?? "without a port";
  return `${how}${background ? ", in the background" : ""}, ${where} (version ${server.version}, process ${server.pid})`;
}

function describeMemories({ memories, bytes, oldest, newest }: Status): string {
  if (oldest === null || newest === null) return "none yet";
  const size = bytes === null ? "" : `, ${sizeText(bytes)}`;
  return `${memories.toLocaleString("en")}, from ${formatDate(oldest)} to ${formatDate(newest)}${size}`;
}

/** Agents of which the text says what they did, the last seen first. */
const MAX_SHOWN = 10;

function describeActivity({ agent, machine, warnings, ...did }: AgentList["agents"][number]) {
  const when = (at: string | null) => (at === null ? "never" : formatDate(at));
  const facts = `last capture ${when(did.last_capture)}, last recall ${when(did.last_recall)}, ${memoryCount(did.brought)} brought${ofUseText(did.of_use)}`;
  const name = agent === null ? machine : `${agent} on ${machine}`;
  return [`${name}: ${facts}`, ...warnings.map((each) => `warning: it ${each}`)].join("; ");
}

function ofUseText(ofUse: number | null): string {
  return ofUse === null ? " (their use is not counted)" : `, ${ofUse} of use`;
}

function describeAgents(agents: Status["agents"]): string {
  const namesOf = (isConnected: boolean) =>
    agents.filter(({ connected }) => connected === isConnected).map(({ name }) => name);
  const [connected, others] = [namesOf(true), namesOf(false)];
  if (agents.length === 0)
    return "none found here (ctxd connect lists the agents that it supports)";
  const parts = [
    connected.length > 0 && `${connected.join(", ")} connected`,
    others.length > 0 && `${others.join(", ")} not connected (ctxd connect --all)`,
  ];
  return parts.filter((part) => part !== false).join("; ");
}
