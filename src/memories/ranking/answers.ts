import type { Relate } from "../../embedding/relations/relater.ts";
import { withScores } from "./chance.ts";
import { factOf, mayBeVersion, UNSPACED } from "./fact-text.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { logOddsOf } from "./relevance.ts";

/** How many of the first results may be read together with the question. Each takes 2.5 ms. */
const READ = 5;
/** The chance from which on it is likely that something is known. Below it, reading costs time and hardly changes what comes first. */
const LIKELY = 0.8;
/** The share of the best result's chance from which on a result may be the answer too. */
const CLOSE = 0.3;
/** What the log-odds that a memory answers the question count beside its order. */
const WEIGHT = 0.8;
/** A chance of 0 or 1 has no log-odds. */
const LOWEST = 0.01;

/**
 * Reads results that are nearly as likely as the best together with the question, and puts those first that tell what it asks
 * for: another thing said in the same words is as near in meaning. Each place keeps its chance, since a model that knows
 * only two texts can tell which of them answers better, and not whether one is worth returning.
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
    const answers = relations[at]?.answers ?? 0;
    return { one, named, order: one.order + WEIGHT * logOddsOf(answers, LOWEST) };
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
