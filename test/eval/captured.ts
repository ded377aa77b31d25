import { wholeAccount } from "../../src/keys/reach.ts";
import type { TestServer } from "../support/server.ts";
import { createAccount, type EvaluationAccount, type SetMemory } from "./account.ts";
import { DEPTHS, type Measures, mean, measure } from "./measures.ts";
import { readChanged, readFacts, readNotes } from "./own-sets.ts";
import { withEvaluationServer } from "./server.ts";
import { type EvaluationSet, readSet } from "./set.ts";

/** Saved facts, and captured turns beside them. */
const FACTS = 500;
const TURNS = 5_000;
/** Turns that are captured at once. */
const AT_ONCE = 250;
const SESSION = 20;

/** Facts of several kinds in one store, with what is asked about them. */
export async function savedFacts(): Promise<EvaluationSet> {
  const sets = [await readFacts(), await readChanged("held"), await readNotes()];
  const beside = await readChanged("dev");
  const named = sets.map(({ memories, questions }, at) => ({
    memories: memories.map((memory) => ({ ...memory, id: `${at} ${memory.id}` })),
    questions: questions
      .filter(({ evidence }) => evidence.length > 0)
      .map((one) => ({ ...one, evidence: one.evidence.map((id) => `${at} ${id}`) })),
  }));
  const memories = named.flatMap((set) => set.memories);
  const more = beside.memories.slice(0, Math.max(0, FACTS - memories.length));
  return { memories: [...memories, ...more], questions: named.flatMap((set) => set.questions) };
}

export interface SaidTurn {
  role: "user" | "assistant";
  content: string;
}

/** Turns of conversations about other things. */
export function turnsOf(memories: readonly SetMemory[], count = TURNS): SaidTurn[] {
  return memories
    .slice(0, count)
    .map(({ content }, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content }));
}

/** Conversations in which the same was asked before, and which had no answer to it. */
export function turnsAsking({ questions }: Pick<EvaluationSet, "questions">): SaidTurn[] {
  return questions.flatMap(({ question }): SaidTurn[] => [
    { role: "user", content: question },
    { role: "assistant", content: "I don't know that yet. Let me look into it." },
  ]);
}

/** Has the server capture turns for an account, in sessions. */
export async function captureAll(
  server: TestServer,
  accountId: string,
  turns: readonly SaidTurn[],
): Promise<void> {
  const client = await server.client(accountId);
  for (let from = 0; from < turns.length; from += AT_ONCE) {
    const some = turns.slice(from, from + AT_ONCE);
    for (let at = 0; at < some.length; at += SESSION) {
      const session_id = `talk ${(from + at) / SESSION}`;
      const json = { agent: "codex", session_id, turns: some.slice(at, at + SESSION) };
      const { status, body } = await client.send("POST", "/memories/capture", { json });
      if (status !== 200) throw new Error(`nothing was captured: ${JSON.stringify(body)}`);
    }
  }
}

/** Every so many-th fact is only said where some are. */
export const ONLY_SAID = 3;

/**
 * `bun test/eval/captured.ts FOLDER`: what captured turns take from the saved facts that are asked for, and how well
 * facts are found that were only said.
 */
async function main(folder: string): Promise<void> {
  const facts = await savedFacts();
  const files = (
    await Array.fromAsync(new Bun.Glob("{locomo,realtalk,lmepool}-*.json").scan(folder))
  ).sort();
  const talk = [];
  for (const file of files) talk.push(...(await readSet(`${folder}/${file}`)).memories);
  const asking = turnsAsking(facts);
  const beside = [...turnsOf(talk, TURNS - asking.length), ...asking];
  const said = facts.memories.filter((_, at) => at % ONLY_SAID === 0);
  const kinds: { name: string; turns: SaidTurn[]; said: SetMemory[] }[] = [
    { name: "facts alone", turns: [], said: [] },
    { name: "beside talk", turns: turnsOf(talk), said: [] },
    { name: "beside talk and the same questions", turns: beside, said: [] },
    { name: "a third of them only said there", turns: beside, said },
  ];
  await withEvaluationServer(async (server) => {
    for (const { name, turns, said } of kinds) {
      const account = await createAccount(
        server,
        facts.memories.filter((memory) => !said.includes(memory)),
      );
      const saying = said.map(({ content }): SaidTurn => ({ role: "user", content }));
      await captureAll(server, account.accountId, [...turns, ...saying]);
      const answers = await askFacts(account, facts.questions, said);
      const { memories } = await server.memories.stats(wholeAccount(account.accountId));
      console.log(`${name} (${memories} memories)`);
      for (const [kind, measures] of answers) {
        const { recall, reciprocalRank, questions } = mean(measures);
        const figures = DEPTHS.map((depth, at) => `@${depth} ${recall[at]?.toFixed(3)}`).join("  ");
        console.log(
          `  ${kind}: ${figures}  rr ${reciprocalRank.toFixed(3)}  (${questions} questions)`,
        );
      }
    }
  });
}

/** What questions find whose answers are all saved, and those of which all are only said. */
export async function askFacts(
  account: EvaluationAccount,
  questions: EvaluationSet["questions"],
  said: readonly SetMemory[],
): Promise<Map<string, Measures[]>> {
  const idOf = new Map(said.map(({ id, content }) => [`User: ${content}`, id]));
  const ids = new Set(idOf.values());
  const answers = new Map<string, Measures[]>([["saved", []]]);
  for (const { question, evidence } of questions) {
    const [first] = evidence;
    const isSaid = first !== undefined && ids.has(first);
    if (first === undefined || evidence.some((id) => ids.has(id) !== isSaid)) continue;
    const found = await account.ask(question, { limit: Math.max(...DEPTHS) });
    const measured = measure(
      found.map(({ id, content }) => id || (idOf.get(content) ?? "")),
      evidence,
    );
    const kind = isSaid ? "only said" : "saved";
    answers.set(kind, [...(answers.get(kind) ?? []), measured]);
  }
  return answers;
}

if (import.meta.main) await main(Bun.argv[2] ?? "");
