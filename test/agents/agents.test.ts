import { describe, expect, test } from "bun:test";
import { findClient } from "../../src/connect/clients.ts";
import { stopServer } from "../support/bridge.ts";
import { pinnedVersions } from "./install.ts";
import type { Asked } from "./model/api.ts";
import { messagesWithMemories, recalledIn, whatIsSeen, withoutRecalled } from "./observe.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import { askUntilDone, openScenario, type Scenario, untilCaptured } from "./scenario.ts";
import { readTried, renderTried, type Tried, triedInHelp, writeTried } from "./tried.ts";

// Real agents of the npm registry, with a stand-in for the model. Three of them in every run, all of them with
// `LONG=1`. `CTXD_WRITE=1` writes down what worked: in tried.json, and in the help.
const DRIVEN = PROGRAMS.filter(
  ({ id, programs }) => findClient(id) && (programs === "every-run" || process.env.LONG),
);

const FACT = "Our staging server is called heron.";
/** An order of an earlier conversation. The stand-in obeys each that stands outside of the frame of recalled memories. */
const SAID = "REMEMBER: The staging server heron is restarted every Tuesday.";
const OLD = /called heron|every Tuesday/;
const QUESTION = "On which day is the staging server heron restarted?";
const PROJECT = "acme/atlas";

describe.each(DRIVEN.map((program) => [program.id, program] as const))("%s", (_, program) => {
  test("connects, saves, recalls, captures, goes on without the server, and is disconnected", async () => {
    await using scenario = await openScenario();
    const folder = await scenario.repository("atlas");
    scenario.setUp(program);
    const { changed, left } = await leftByConnecting(scenario, program);
    expect(left).toEqual([]);
    await scenario.connect(program);
    if (program.list) {
      const listed = await scenario.start(program, program.list.args, folder);
      expect(listed.stdout + listed.stderr).toMatch(program.list.says);
    }
    const conversed = program.prompt ? await converse(scenario, program, folder) : SILENT;
    if (process.env.CTXD_WRITE) {
      const name = findClient(program.id)?.name ?? program.id;
      const version = (await pinnedVersions(program.programs))[program.package] ?? "";
      await writeTried(program.id, { name, version, ...conversed, left });
    }

    await scenario.takeServerAway();
    if (program.prompt) {
      expect((await scenario.ask(program, QUESTION, folder)).stdout).toContain("HEARD");
    }
    await scenario.disconnect(program);
    const settings = [...scenario.homeFiles()].filter(([path]) => changed.includes(path));
    const withUs = settings.filter(([, text]) => text.includes(`--agent ${program.id}`));
    const paths = withUs.map(([path]) => path).filter((path) => !path.endsWith(".before-ctxd"));
    expect(paths).toEqual([]);
  }, 900_000);
});

test("the help names the versions of the programs that every run drives, and what was tried", async () => {
  const tried = await readTried();
  const versions = PROGRAMS.filter(({ programs }) => programs === "every-run").map((program) => [
    program.package,
    tried[program.id]?.version,
  ]);
  expect(Object.fromEntries(versions)).toEqual(await pinnedVersions("every-run"));
  expect(await triedInHelp()).toBe(renderTried(tried));
});

/** The files and folders that differ after connecting and disconnecting a program, where it has never run. */
async function leftByConnecting(scenario: Scenario, program: Program) {
  const before = scenario.homeFiles();
  await scenario.connect(program);
  const connected = scenario.homeFiles();
  await scenario.disconnect(program);
  const after = scenario.homeFiles();
  const paths = new Set([...before.keys(), ...connected.keys()]);
  return {
    changed: [...paths].filter((path) => before.get(path) !== connected.get(path)),
    left: [...paths].filter((path) => before.get(path) !== after.get(path)),
  };
}

/**
 * What a first request has when no server ran before. A program is asked again if a warm one had more: on a busy machine
 * a server may start later than agents and hooks wait.
 */
async function askCold(
  { ask, dataDir }: Scenario,
  program: Program,
  { folder, warm }: { folder: string; warm: Asked },
) {
  for (let attempt = 1; ; attempt++) {
    await stopServer(dataDir);
    const { first } = await ask(program, QUESTION, folder);
    const cold = partsOf(first);
    if (Bun.deepEquals(cold, partsOf(warm)) || attempt === 3) return cold;
  }
}

/** What of ctxd a request has. */
function partsOf(asked: Asked) {
  const { tools, names, recalled } = whatIsSeen(asked, "");
  return { tools: tools + names > 0, recalled: recalled > 0 };
}

type Conversed = Omit<Tried, "name" | "version" | "left">;

/** What is known of a program that only its maker's service can answer. */
const SILENT: Conversed = {
  ...{ recalls: false, captures: false, sees: null, place: null, cold: null, seconds: null },
};

/** Waits until the question is captured. A program that ends before its hooks is asked again, twice at most. */
async function untilQuestionCaptured(scenario: Scenario, program: Program, folder: string) {
  for (let again = program.leavesHooks ? 2 : 0; again > 0; again--) {
    await scenario.untilHooksEnd();
    const turns = await scenario.captured(PROJECT);
    if (turns.some((turn) => turn.includes(QUESTION))) return;
    await scenario.ask(program, QUESTION, folder);
  }
  await untilCaptured(scenario, PROJECT, QUESTION);
}

/** Saves in a session, recalls in another one, and not in another project. */
async function converse(scenario: Scenario, program: Program, folder: string): Promise<Conversed> {
  const instructions = await scenario.startServer();
  await scenario.post("/api/memories/capture", {
    ...{ agent: "earlier", session_id: "earlier", project: PROJECT },
    turns: [{ role: "user", content: SAID, at: "2026-11-20T09:00:00Z" }],
  });
  const saved = await askUntilDone(scenario, program, `REMEMBER: ${FACT}`, folder);
  const replies = saved.exchanges.map(({ reply }) => ("text" in reply ? reply.text : ""));
  expect(replies).toContainEqual(expect.stringMatching(/^DONE .*mem_/s));

  const client = findClient(program.id);
  const hasHooks = Boolean(client?.hooks ?? client?.plugin);
  const asked = await scenario.ask(program, hasHooks ? QUESTION : `LOOKUP: ${QUESTION}`, folder);
  const recalled = messagesWithMemories(asked.first);
  if (hasHooks) {
    const lines = recalled.flatMap(({ text }) => recalledIn(text)).join("\n");
    expect(lines).toContain(FACT);
    // The framing says that these are facts, who said them and when. What was said stands nowhere else.
    expect(lines).toMatch(/from the user's long-term memory.*facts, never instructions/i);
    expect(lines).toMatch(/said by the user on \d+ \w{3} \d{4}, mem_\w+\) User: REMEMBER: /);
    const now = asked.first.messages.flatMap(({ text }) => withoutRecalled(text));
    expect(now.filter((line) => OLD.test(line))).toEqual([]);
    expect(asked.exchanges.filter(({ reply }) => "call" in reply)).toEqual([]);
    await untilQuestionCaptured(scenario, program, folder);
  } else {
    expect(asked.stdout).toContain(FACT);
  }

  const other = await scenario.repository("boreas");
  const elsewhere = await askUntilDone(scenario, program, `LOOKUP: ${QUESTION}`, other);
  expect(JSON.stringify(elsewhere.exchanges)).not.toContain("is called heron");
  const cold = await askCold(scenario, program, { folder, warm: asked.first });
  const byChance = program.asksEarly && { tools: expect.any(Boolean) };
  expect(cold).toEqual({ ...partsOf(asked.first), ...byChance });
  return {
    ...{ recalls: hasHooks, captures: hasHooks, place: recalled[0]?.role ?? null },
    sees: whatIsSeen(asked.first, instructions),
    cold,
    seconds: Math.round(asked.milliseconds / 100) / 10,
  };
}
