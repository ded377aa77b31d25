import type { Relate } from "../../embedding/relations/relater.ts";
import { withScores } from "./chance.ts";
import { factOf, mayBeVersion, UNSPACED } from "./fact-text.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { logOddsOf } from "./relevance.ts";

/** How many of the first results may be read together with the question. Each takes 2.5 ms. */
const READ = 6;
/** The chance from which on it is likely that something is known. Below it, reading costs time and hardly changes what comes first. */
const LIKELY = 0.8;
/** The share of the best result's chance from which on a result may be the answer too. */
const CLOSE = 0.3;
/** What the log-odds that a memory answers the question count beside its order. Chosen on sets that the model has not learned from. */
const WEIGHT = 0.4;
/** The model's chances count as 0.1 to 0.9: typing errors and single words mislead it. */
const LOWEST = 0.1;

/**
 * Reads results that are nearly as likely as the best together with the question: another thing said in the same words is as
 * near in meaning. They are put in the order in which they answer. Each place keeps its chance, since a model that knows only two
 * texts can tell which of them answers better, and not whether one is worth returning.
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
  const places = results
    .slice(0, READ)
    .filter((one) => one.chance >= CLOSE * best && isReadable(one.memory));
  if (places.length < 2) return results;
  const relations = await Promise.all(places.map(({ memory }) => relate(text, memory.content)));
  if (relations.includes(null)) return results;
  const read = places.map((one, at) => {
    const { keys } = factOf(one.memory);
    const named = identifiers.filter((each) => keys.has(each)).length;
    const answers = logOddsOf(relations[at]?.answers ?? 0, LOWEST);
    return { one, named, order: one.order + WEIGHT * answers };
  });
  // What the question names exactly counts more than what the model makes of it.
  read.sort((a, b) => b.named - a.named || b.order - a.order);
  const ordered = [...results];
  for (const [at, { one }] of read.entries()) {
    const place = places[at];
    if (!place) continue;
    const { order, logOdds, chance } = place;
    ordered[results.indexOf(place)] = { ...one, order, logOdds, chance };
  }
  return withScores(ordered, question);
}

/** Whether a memory is one fact in words that the model knows. A conversation goes on from turn to turn. */
function isReadable(memory: Ranked["memory"]): boolean {
  if (!mayBeVersion(memory) || UNSPACED.test(memory.content)) return false;
  return memory.sessionId === null || factOf(memory).speaker === undefined;
}
