import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findClient } from "../../src/connect/clients.ts";
import { fetchOnSocket } from "../../src/system/local-socket.ts";
import { initialize } from "../mcp/support/bridges.ts";
import { startBridge, stopServer } from "../support/bridge.ts";
import { until } from "../support/until.ts";
import { createMachine } from "./machine.ts";
import { startStandIn } from "./model/stand-in.ts";
import type { Program } from "./programs.ts";

/** The options of `ctxd connect` for all that an agent can have. */
function optionsFor({ id }: Program): string[] {
  const client = findClient(id);
  const hasHooks = client?.hooks ?? client?.plugin;
  return [...(hasHooks ? ["--capture", "--recall"] : []), ...(client?.approval ? ["--allow"] : [])];
}

/** A machine with a running server, on which programs are set up, connected and asked. */
export async function openScenario() {
  const standIn = startStandIn();
  const machine = createMachine(standIn);
  const { home, dataDir } = machine;

  const connect = async (id: string, ...options: string[]) => {
    const outcome = await machine.ctxd("connect", id, ...options, "--yes");
    if (outcome.exitCode !== 0) throw new Error(outcome.stderr);
  };

  /** Posts to the API of the machine's server. */
  const post = async (path: string, body: object) => {
    const init = { method: "POST", headers: { "content-type": "application/json" } };
    return fetchOnSocket(dataDir, path, { ...init, body: JSON.stringify(body) });
  };

  return {
    ...machine,
    post,

    /** What the model was asked so far. */
    asked: () => standIn.exchanges,

    /** Connects a program with all that it can have. */
    connect: (program: Program) => connect(program.id, ...optionsFor(program)),
    disconnect: ({ id }: Program) => connect(id, "--remove"),

    /** Starts the server, again if it has ended. Returns what it says of itself to programs that connect. */
    startServer: (): Promise<string> =>
      until("the server answers", async () => {
        const bridge = startBridge(dataDir);
        bridge.send(initialize);
        // The bridge itself answers; the server has been asked, too, once it ends.
        const { instructions } = Object((await bridge.next()).result);
        await bridge.end();
        const isThere = await fetchOnSocket(dataDir, "/health", {}).catch(() => null);
        return isThere && instructions;
      }),

    /** Runs a program with a prompt in a new session. */
    async ask(program: Program, prompt: string, folder: string) {
      const before = standIn.exchanges.length;
      const outcome = await machine.start(program, program.prompt?.(prompt) ?? [], folder);
      const exchanges = standIn.exchanges.slice(before);
      // Some programs also ask the model for a title, without tools.
      const first = exchanges.find(({ tools }) => tools.length > 0);
      if (!first) throw new Error(`the model was not asked: ${outcome.stderr}${outcome.stdout}`);
      return { ...outcome, exchanges, first };
    },

    /** The texts of the turns that were captured in a project. */
    async captured(project: string): Promise<string[]> {
      const path = `/api/memories?limit=100&project=${encodeURIComponent(project)}`;
      const { memories } = Object(await (await fetchOnSocket(dataDir, path, {})).json());
      const isCaptured = ({ source }: { source: { via: string } }) => source.via === "capture";
      return memories.filter(isCaptured).map(({ content }: { content: string }) => content);
    },

    /** Waits until no hook that captures runs any more. */
    untilHooksEnd: () =>
      until("the hooks have ended", () => {
        const lines = `${Bun.spawnSync(["ps", "-A", "-ww", "-o", "args="]).stdout}`.split("\n");
        return !lines.some((line) => line.includes(dataDir) && line.includes(" capture"));
      }),

    /** Ends the server, and lets no other one start. */
    async takeServerAway(): Promise<void> {
      await stopServer(dataDir);
      rmSync(dataDir, { recursive: true, force: true });
      writeFileSync(dataDir, "no folder");
    },

    /** The content of each file of the home folder, and the names of its folders. */
    homeFiles(): Map<string, string> {
      const isOurs = (path: string) => /^(\.cache|memories|work)(\/|$)/.test(path);
      const entries = readdirSync(home, { recursive: true, withFileTypes: true });
      const paths = entries.map((entry) => ({
        path: join(entry.parentPath, entry.name).slice(home.length + 1),
        isFile: entry.isFile(),
      }));
      return new Map(
        paths
          .filter(({ path }) => !isOurs(path))
          .map(({ path, isFile }) => [
            path,
            isFile ? readFileSync(join(home, path), "latin1") : "",
          ]),
      );
    },

    async [Symbol.asyncDispose]() {
      await stopServer(dataDir);
      await standIn.close();
    },
  };
}
export type Scenario = Awaited<ReturnType<typeof openScenario>>;

/** Waits until the turns of a project contain a text. */
export function untilCaptured(scenario: Scenario, project: string, text: string): Promise<string> {
  return until(`“${text}” is captured`, async () => {
    const turns = await scenario.captured(project);
    return turns.find((turn) => turn.includes(text)) ?? null;
  });
}

/** Asks, and asks again where a program has begun before it knew the tools of its servers. */
export async function askUntilDone(
  { ask }: Scenario,
  program: Program,
  prompt: string,
  folder: string,
): ReturnType<Scenario["ask"]> {
  for (let attempt = 1; ; attempt++) {
    const asked = await ask(program, prompt, folder);
    if (/\bDONE\b/.test(asked.stdout) || attempt === 3) return asked;
  }
}
