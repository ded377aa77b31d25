import { messageOf } from "../../src/errors.ts";
import { createRandom } from "../bench/random.ts";
import { shownIn } from "../support/mcp.ts";
import type { Variant, YearMoment } from "./run.ts";
import { createSentences } from "./sentences.ts";
import { PEOPLE, type Person, type Project, type Said } from "./truth.ts";

/** Milliseconds for which what tidies can be undone, and how long the server is waited for. */
const UNDOABLE = 10_000;
const PATIENCE = 8_000;
/** The share of the memories that is waited for. */
const COMPARED = 0.99;
const LOOK_EVERY = 100;
/** Groups that are applied at once. */
const GROUPS = 100;
/** What is proposed and loses nothing: the superseded memories stay as history. */
const SAFE_KINDS = ["restatements", "contradictions"];

/** At each month's end, people accept what `GET /memories/tidy` proposes about facts, without a look at it. */
export const tidying: Variant = {
  async atMonthEnd(moment) {
    for (const person of PEOPLE) for (const kind of SAFE_KINDS) await tidy(moment, person, kind);
  },
};

async function tidy({ server, agents }: YearMoment, { name }: Person, kind: string) {
  const client = agents.clientOf(name);
  const report = async () =>
    Object((await client.send("GET", `/memories/tidy?kind=${kind}&limit=${GROUPS}`)).body);
  // Memories are compared in the background, the last ones when they are flushed.
  const isCompared = async () => Number((await report()).compared) > COMPARED;
  await until(isCompared).catch(() => {});
  for (;;) {
    const groups: { id: string }[] = (await report()).groups ?? [];
    if (groups.length === 0) return;
    const json = { groups: groups.map(({ id }) => ({ id })) };
    const { status, body } = await client.send("POST", "/memories/tidy", { json });
    if (status !== 200) throw new Error(`tidying failed: ${JSON.stringify(body)}`);
    await server.advance(UNDOABLE + 1_000);
    const ids = new Set(groups.map(({ id }) => id));
    await until(async () => {
      const left: { id: string }[] = (await report()).groups ?? [];
      return !left.some(({ id }) => ids.has(id));
    });
  }
}

/** Each week an agent distils what was captured of each project. It knows what is true only from the turns. */
export function distilling(perWeek: number): Variant {
  return {
    async afterSession({ number }, moment) {
      if (number % perWeek !== 0) return;
      for (const person of PEOPLE) {
        for (const project of person.projects) await distil(moment, person, project);
      }
    },
  };
}

async function distil({ agents, year }: YearMoment, person: Person, project: Project) {
  const [agent = ""] = person.agents;
  const text = await agents.prompt(agent, "distill", { project: project.name });
  const marks = /\{"distilled_from":"(mem_\w+)","distilled_to":"(mem_\w+)"\}/.exec(text);
  if (!marks) return;
  const turns = text.slice(text.indexOf("turns of conversations"));
  const latest = new Map<Said["fact"], Said>();
  for (const [id] of turns.matchAll(/(?<=^)mem_[0-9a-f]{32}(?= · )/gm)) {
    const said = year.saidIn((await agents.clientOf(person.name).get(id)).content);
    if (said) latest.set(said.fact, said);
  }
  const sentences = createSentences(createRandom(latest.size));
  const wanted: NonNullable<Awaited<ReturnType<typeof savingOf>>>[] = [];
  for (const said of latest.values()) {
    const saving = await savingOf({ agents, year }, said, { agent, sentences });
    if (saving) wanted.push(saving);
  }
  for (const [at, input] of wanted.entries()) {
    const metadata = { distilled_from: marks[1], distilled_to: marks[2] };
    const save = (supersedes = input.supersedes) =>
      agents.call(agent, "save_memory", {
        ...input,
        ...(supersedes !== undefined && { supersedes }),
        ...(at === wanted.length - 1 && { metadata }),
      });
    await save().catch((error) => {
      // What it replaces was replaced by one that was saved just before: an agent does what the answer says.
      const [, newer] = /has been superseded by (mem_\w+)/.exec(messageOf(error)) ?? [];
      if (newer === undefined) throw error;
      return save(newer);
    });
  }
}

/** What an agent saves of a fact: nothing if it is known, else with the id of what it replaces. */
async function savingOf(
  { agents, year }: Pick<YearMoment, "agents" | "year">,
  said: Said,
  { agent, sentences }: { agent: string; sentences: ReturnType<typeof createSentences> },
) {
  const { fact, version } = said;
  const at = Date.now();
  const query = sentences.ofFact(fact, "questions", { at });
  const place = { project: fact.project ?? fact.person.projects[0]?.name };
  const found = shownIn(await agents.call(agent, "search_memories", { query, ...place }));
  const saved = found.filter(({ content }) => !/^(?:User|Assistant): /.test(content));
  const known = saved.map(({ id, content }) => ({ id, said: year.saidIn(content) }));
  const own = known.filter((one) => one.said?.fact === fact);
  if (own.some((one) => one.said?.version === version)) return null;
  if (version === null && own.length === 0) return null;
  const value = fact.versions[version ?? fact.versions.length - 1]?.value;
  const shape = version === null ? "savedWithdrawals" : "saves";
  const content = sentences.ofFact(fact, shape, { value, at: fact.versions.at(-1)?.from ?? at });
  year.register(content, said);
  return {
    content,
    project: fact.project,
    ...(fact.isPreference && { tags: ["preference"] }),
    supersedes: own[0]?.id,
  };
}

/** Several variants as one. */
export function together(variants: readonly Variant[]): Variant {
  return {
    async afterSession(session, moment) {
      for (const each of variants) await each.afterSession?.(session, moment);
    },
    async atMonthEnd(moment) {
      for (const each of variants) await each.atMonthEnd?.(moment);
    },
  };
}

async function until(isDone: () => Promise<boolean>) {
  const started = performance.now();
  while (!(await isDone())) {
    if (performance.now() - started > PATIENCE) throw new Error("the server does not get done");
    await Bun.sleep(LOOK_EVERY);
  }
}
