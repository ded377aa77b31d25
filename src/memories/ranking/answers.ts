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
 * What a result loses, in log-odds, for each unit by which the model's log-odds that it answers are below the best ones: when
 * the read results are put in order, and of its chance. Chosen on sets that the model has not learned from, by what comes first and by
 * how much of the evidence is still returned.
 */
const LOSSES = { order: 0.4, chance: 0.2 };
/** The model's chances count as 0.1 to 0.9: typing errors and single words mislead it. */
const LOWEST = 0.1;

/**
 * Reads results that are nearly as likely as the best together with the question: another thing said in the same words is as
 * near in meaning. They are put in the order in which they answer, at the places that they have; those that answer less well than
 * the best of them become less likely.
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
    return { one, named, answers: logOddsOf(relations[at]?.answers ?? 0, LOWEST) };
  });
  // What the question names exactly counts more than what the model makes of it.
  const mostNamed = Math.max(...read.map(({ named }) => named));
  const most = Math.max(
    ...read.filter(({ named }) => named === mostNamed).map(({ answers }) => answers),
  );
  const inOrder = read
    .map((each) => ({ ...each, less: Math.max(0, most - each.answers) }))
    .sort(
      (a, b) =>
        b.named - a.named ||
        b.one.order - LOSSES.order * b.less - (a.one.order - LOSSES.order * a.less),
    );
  const placed = new Map(
    inOrder.flatMap(({ one, less }, at) => {
      const place = places[at];
      return place ? [[place, takePlace(one, place, LOSSES.chance * less)] as const] : [];
    }),
  );
  const ordered = results.map((one) => placed.get(one) ?? one);
  // What has become less likely than others comes after them.
  return withScores(
    ordered.sort((a, b) => b.order - a.order),
    question,
  );
}

/** A result at the place of another one, and less likely than that was. */
function takePlace(one: Ranked, place: Ranked, loss: number): Ranked {
  const logOdds = place.logOdds - loss;
  return { ...one, order: place.order - loss, logOdds, chance: chanceOf(logOdds) };
}

/** Whether a memory is one fact in words that the model knows. A conversation goes on from turn to turn. */
function isReadable(memory: Ranked["memory"]): boolean {
  if (!mayBeVersion(memory) || UNSPACED.test(memory.content)) return false;
  return memory.sessionId === null || factOf(memory).speaker === undefined;
}
