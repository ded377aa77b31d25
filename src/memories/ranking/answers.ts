import type { Relate } from "../../embedding/relations/relater.ts";
import { FLOOR, withScores } from "./chance.ts";
import { factOf, type HasContent, MAX_FACT_LENGTH, mayBeVersion, UNSPACED } from "./fact-text.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { chanceOf, logOddsOf } from "./relevance.ts";
import { COMPARED_RESULTS, type VersionMarks } from "./versions/order.ts";

/** How many of the first results may be read together with the question. Each takes 2.5 ms. */
const READ = 6;
/** The chance from which on it is likely that something is known. Below it, reading costs time and rarely changes what comes first. */
const LIKELY = 0.88;
/** The share of the best result's chance from which on a result may be the answer too. */
const CLOSE = 0.3;
/** What the log-odds that a memory answers the question count beside its order. Chosen on sets that the model has not learned from. */
const WEIGHT = 0.4;
/** The model's chances count as 0.1 to 0.9: typing errors and single words mislead it. */
const LOWEST = 0.1;
/** The most that reading adds to an order, or takes from it. */
const MOST = WEIGHT * logOddsOf(1, LOWEST);

/** What decides the place of a result: how many identifiers of the question it has, and its order after reading. */
type Total = { named: number; total: number };

/**
 * When all results become less likely: if the model finds an answer in none of the first ones, how much its log-odds below
 * the least count, and the lowest chance that counts, where they share words with the question or not. The model has learned
 * from questions, and is trusted less where only a few words name what is wanted. A memory that tells another attribute, or the
 * one that is asked for of another thing, must surely answer, and all the more where both have names in the account (`named`).
 * Chosen by what is found and kept of own facts and notes, of facts beside which others look alike, and on a year of talk.
 */
const DOUBT = {
  first: 3,
  least: 0.2,
  question: { weight: 2.5, lowest: 0.01 },
  subject: { weight: 2, lowest: 0.02 },
  otherWords: { weight: 2, least: 0.03, lowest: 0.003 },
  "more exactly": 0.2,
  "similar thing": 0.2,
  "similar attribute": 0.2,
  "another thing": 0.8,
  "another attribute": 0.5,
  named: { least: 0.9, lowest: 0.003 },
};
/**
 * Where one of the first answers: how many results are read, and what those lose that have a lower chance of an answer. Chosen
 * on own facts and notes: of the latter 2.1 are returned instead of 3.6, with as many of those that answer.
 */
const BESIDE = { most: 8, least: 0.04, loss: 3.6 };

type Asked = Pick<
  Question,
  | "text"
  | "asked"
  | "asks"
  | "isQuestion"
  | "facts"
  | "hasWords"
  | "identifiers"
  | "asksForPast"
  | "period"
  | "mode"
  | "decay"
>;

/**
 * Reads results that are nearly as likely as the best together with the question: another thing said in the same words is as
 * near in meaning. The one that answers comes first, and nothing more is read once no other can come first. If one tells the
 * very attribute that is asked for, such as the port of the cache, it comes first, and no other is read. Each place keeps
 * its chance: that one memory answers better than another does not tell how many are worth returning.
 * @param results with comparable scores, best first
 * @param reads whether results are read even if they are unlikely, but not below the floor
 */
export async function readAnswers(
  question: Asked,
  results: readonly Ranked[],
  relate: Relate,
  reads = false,
): Promise<readonly Ranked[]> {
  const best = results[0]?.chance ?? 0;
  if (namesTime(question) || !mayBeRead(question, best, reads ? FLOOR : LIKELY)) return results;
  const telling = question.asked.telling(results.slice(0, COMPARED_RESULTS));
  if (telling[0] && (await mayAnswer(question, telling[0], relate))) {
    return withScores(putFirst(results, telling), question);
  }
  return await readFirst(question, results, relate);
}

/** Whether the model does not rule out that a memory answers: "The owner of the flat is strict" tells no owner. */
async function mayAnswer({ text }: Asked, { memory }: Ranked, relate: Relate): Promise<boolean> {
  const relation = isReadable(memory) ? await relate(text, memory.content) : null;
  return relation === null || relation.answers >= LOWEST;
}

/** Reads the first results; see `readAnswers`. */
async function readFirst(
  question: Asked,
  results: readonly Ranked[],
  relate: Relate,
): Promise<readonly Ranked[]> {
  const { text, identifiers } = question;
  const best = results[0]?.chance ?? 0;
  const places = results
    .slice(0, READ)
    .filter((one) => one.chance >= CLOSE * best && isReadable(one.memory));
  if (places.length < 2) return results;
  const read = places.map((one) => {
    const { keys } = factOf(one.memory);
    const named = identifiers.filter((each) => keys.has(each)).length;
    // What nobody reads must not pass what was read.
    return { one, named, total: one.order - MOST };
  });
  // What the question names exactly counts more than what the model makes of it.
  const byTotal = (a: Total, b: Total) => b.named - a.named || b.total - a.total;
  read.sort(byTotal);
  let [first] = read;
  for (const [at, each] of read.entries()) {
    // Nothing is read if the first stays the first whatever it and the second say.
    const rival = at === 0 ? read[1] : each;
    if (!first || !rival) break;
    if (byTotal(first, { ...rival, total: rival.one.order + MOST }) < 0) break;
    const relation = await relate(text, each.one.memory.content);
    if (!relation) return results;
    each.total = each.one.order + WEIGHT * logOddsOf(relation.answers, LOWEST);
    if (byTotal(each, first) < 0) first = each;
  }
  read.sort(byTotal);
  const ordered = [...results];
  for (const [at, { one }] of read.entries()) {
    const place = places[at];
    if (place) ordered[results.indexOf(place)] = inPlaceOf(place, one);
  }
  return withScores(ordered, question);
}

/** Moves results before all others. Each place keeps its chance. */
function putFirst(results: readonly Ranked[], first: readonly Ranked[]): Ranked[] {
  const others = results.filter((one) => !first.includes(one));
  return [...first, ...others].map((one, at) => inPlaceOf(results[at] ?? one, one));
}

function inPlaceOf({ order, logOdds, chance }: Ranked, one: Ranked): Ranked {
  return { ...one, order, logOdds, chance };
}

/**
 * Makes results less likely that do not answer the question: what says something else of the same thing, or the same of another
 * thing, is as near in meaning. If none of the first answers, all become less likely, else the further ones that surely do
 * not. Results stay as they are if one of the first can't be read.
 * @param results in order, with comparable scores
 */
export async function doubtAnswers<Result extends Ranked & VersionMarks>(
  { question, considered }: { question: Asked; considered: readonly { memory: HasContent }[] },
  results: readonly Result[],
  relate: Relate,
): Promise<readonly Result[]> {
  const best = results[0]?.chance ?? 0;
  // No memory answers a task, and the model reads no long texts.
  const isShort = question.text.length <= MAX_FACT_LENGTH;
  if (!question.asks || !isShort || !mayBeRead(question, best, FLOOR)) return results;
  // Reads all candidates, and most questions are answered by the first.
  const areNamed = () => question.asked.areNamed(considered);
  let answers = 0;
  let shares = false;
  const read = async ({ memory }: Result) => {
    const relation = isReadable(memory) ? await relate(question.text, memory.content) : null;
    return relation && chanceOfAnswer(question, memory, relation.answers, areNamed);
  };
  for (const [at, one] of results.slice(0, DOUBT.first).entries()) {
    if (one.chance < CLOSE * best) continue;
    const { memory } = one;
    const answer = await read(one);
    if (answer === null) return results;
    if (answer >= DOUBT.least) return await doubtFrom(at + 1, results, question, read);
    answers = Math.max(answers, answer);
    const { keys } = factOf(memory);
    shares ||= question.facts.some(({ key }) => keys.has(key));
  }
  // What is said in other words altogether is found by its meaning, and the model misses it more often.
  const sameWords = question.isQuestion ? DOUBT.question : DOUBT.subject;
  const { weight, least, ...bounds } = shares
    ? { least: DOUBT.least, ...sameWords }
    : DOUBT.otherWords;
  if (answers >= least || namesTime(question)) return results;
  const { lowest } = areNamed() ? DOUBT.named : bounds;
  const loss = weight * (logOddsOf(least) - logOddsOf(Math.max(lowest, answers)));
  return withScores(
    results.map((one) => lessLikely(one, loss)),
    question,
  );
}

/**
 * Makes results less likely, from a place on, that surely do not answer, and puts them behind the others. Versions of what
 * answers stay, as does what has an identifier of the question and what can't be read.
 * @param read the chance that a result answers; null for one that can't be read
 */
async function doubtFrom<Result extends Ranked & VersionMarks>(
  from: number,
  results: readonly Result[],
  question: Asked,
  read: (one: Result) => Promise<number | null>,
): Promise<readonly Result[]> {
  const likely = results
    .slice(0, BESIDE.most)
    .filter(({ chance }) => chance >= CLOSE * (results[0]?.chance ?? 0));
  const isNamed = ({ memory }: Result) => {
    const content = memory.content.toLowerCase();
    return question.identifiers.some((each) => content.includes(each));
  };
  const doubted = new Set<Result>();
  for (const one of likely.slice(from)) {
    if (one.newer !== undefined || one.replaces !== undefined || isNamed(one)) continue;
    if (((await read(one)) ?? 1) < BESIDE.least) doubted.add(one);
  }
  if (doubted.size === 0) return results;
  // What is less likely than the last one that was read, and nobody reads, answers no better.
  const last = likely.at(-1);
  if (last && doubted.has(last)) for (const one of results.slice(likely.length)) doubted.add(one);
  const changed = results.map((one) => (doubted.has(one) ? lessLikely(one, BESIDE.loss) : one));
  return withScores(
    changed.toSorted((a, b) => b.chance - a.chance),
    question,
  );
}

function lessLikely<Result extends Ranked>(one: Result, loss: number): Result {
  return {
    ...one,
    logOdds: one.logOdds - loss,
    chance: chanceOf(logOddsOf(one.chance) - loss),
  };
}

/**
 * The chance that a memory answers, by the model and by the attribute that it tells.
 * @param areNamed whether what is asked has names here: then what goes by others is something else, unless the model is sure
 */
function chanceOfAnswer(
  { asked }: Asked,
  memory: HasContent,
  answers: number,
  areNamed: () => boolean,
): number {
  const told = asked.toldBy(memory);
  if (told === "asked") return 1;
  const isOther = told !== null && told !== "more exactly" && answers < DOUBT.named.least;
  if (isOther && areNamed()) return 0;
  const needed = told === null ? 0 : logOddsOf(DOUBT[told]) - logOddsOf(DOUBT.least);
  return chanceOf(logOddsOf(answers, DOUBT.otherWords.lowest) - needed);
}

/** Whether results are worth reading. */
function mayBeRead({ mode, hasWords }: Asked, best: number, least: number): boolean {
  return best >= least && mode === "hybrid" && hasWords;
}

/** Whether a question is about a time. The model knows no times, and which version held then is found later on. */
function namesTime({ asksForPast, period }: Asked): boolean {
  return asksForPast || period !== null;
}

/** Whether a memory is one fact in words that the model knows. A conversation goes on from turn to turn. */
function isReadable(memory: Ranked["memory"]): boolean {
  if (!mayBeVersion(memory) || UNSPACED.test(memory.content)) return false;
  return memory.sessionId === null || factOf(memory).speaker === undefined;
}
