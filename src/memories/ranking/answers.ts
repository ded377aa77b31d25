import type { Relate } from "../../embedding/relations/relater.ts";
import { withScores } from "./chance.ts";
import { factOf, mayBeVersion, UNSPACED } from "./fact-text.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { chanceOf, logOddsOf } from "./relevance.ts";

/** How many of the first results may be read together with the question. Each takes 2.5 ms. */
const READ = 6;
/** The chance from which on it is likely that something is known. Below it, reading costs time and hardly changes what comes first. */
const LIKELY = 0.8;
/** The share of the best result's chance from which on a result may be the answer too. */
const CLOSE = 0.3;
/**
 * What it counts that another result answers the question better, in log-odds: for the order `order` times what the model makes of
 * both, and for the chance half of it. Chosen on sets that the model has not learned from, by what comes first and by how much
 * of the evidence is still returned.
 */
const COUNTS = { order: 0.4, chance: 0.2 };
/** The model is never surer than this, or the opposite: typing errors and single words mislead it. */
const SUREST = 0.9;

/**
 * Reads results that are nearly as likely as the best together with the question: another thing said in the same words is as
 * near in meaning. Those that tell less of what it asks for than the best one read become less likely.
 * @param results with comparable scores, best first
 */
export async function readAnswers(
  question: Pick<
    Question,
    "text" | "hasWords" | "identifiers" | "asksForPast" | "period" | "mode" | "decay"
  >,
  results: readonly Ranked[],
  relate: Relate,
): Promise<readonly Ranked[]> {
  const { text, hasWords, identifiers, asksForPast, period, mode } = question;
  // The model knows no times, and which version held then is found later on.
  if (mode !== "hybrid" || !hasWords || asksForPast || period !== null) return results;
  const best = results[0]?.chance ?? 0;
  if (best < LIKELY) return results;
  const first = results.slice(0, READ);
  const close = first.filter((one) => one.chance >= CLOSE * best && isReadable(one.memory));
  if (close.length < 2) return results;
  const relations = await Promise.all(close.map(({ memory }) => relate(text, memory.content)));
  if (relations.includes(null)) return results;
  const answers = relations.map((relation) => logOddsOf(relation?.answers ?? 0, 1 - SUREST));
  const most = Math.max(...answers);
  const lessened = first.map((one) => {
    const at = close.indexOf(one);
    return at < 0 ? one : lessen(one, most - (answers[at] ?? 0));
  });
  // What the question names exactly counts more than what the model makes of it.
  const named = new Map(
    lessened.map((one) => {
      const { keys } = factOf(one.memory);
      return [one, identifiers.filter((each) => keys.has(each)).length];
    }),
  );
  const namedIn = (one: Ranked) => named.get(one) ?? 0;
  lessened.sort((a, b) => namedIn(b) - namedIn(a) || b.order - a.order);
  return withScores([...lessened, ...results.slice(READ)], question);
}

function lessen(one: Ranked, by: number): Ranked {
  const logOdds = one.logOdds - COUNTS.chance * by;
  return { ...one, order: one.order - COUNTS.order * by, logOdds, chance: chanceOf(logOdds) };
}

/** Whether a memory is one fact in words that the model knows. A conversation goes on from turn to turn. */
function isReadable(memory: Ranked["memory"]): boolean {
  if (!mayBeVersion(memory) || UNSPACED.test(memory.content)) return false;
  return memory.sessionId === null || factOf(memory).speaker === undefined;
}
