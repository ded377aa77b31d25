import type { Relate } from "../../../embedding/relations/relater.ts";
import type { FactMemory } from "../fact-text.ts";
import type { Question } from "../question.ts";
import { inTime } from "./history.ts";
import { mayChange } from "./signs.ts";

/** A result with its chance to answer. */
interface Likely {
  memory: FactMemory;
  chance: number;
}

/** The share of the first result's chance from which on an earlier memory may be what is asked for. */
const CLOSE = 0.3;
/** The least chance that it answers, and how many are read at most. */
const LEAST_ANSWER = 0.2;
const READ = 3;
/** A turn of a conversation, with whoever says it. What agents save has a session, too. */
const TURN = /^\p{L}[\p{L} ]{0,30}: /u;
/** Such a question asks for the time between two events. */
const ASKS_HOW_LONG = /\b(?:minutes?|hours?|days?|weeks?|months?|years?|long) before\b/i;
/** Such a memory tells itself what was before, as in "We rehearsed twice, then came the speech". */
const TELLS_BEFORE =
  /\b(?:before(?:hand)?|until|till|then|followed by|afterwards|prior to|ahead of|earlier|bis|(?:be)?vor|danach|dann)\b/i;

/**
 * The earlier memory that "before the pharmacy" asks for if the first result names the pharmacy: that one tells what came then,
 * in whatever words. Null if none is likely.
 */
export async function earlierThanNamed<Result extends Likely>(
  { text, asksForPast, before }: Pick<Question, "text" | "asksForPast" | "before">,
  [first, ...others]: readonly Result[],
  relate: Relate,
): Promise<Result | null> {
  if (!asksForPast || !first || ASKS_HOW_LONG.test(text)) return null;
  if (TELLS_BEFORE.test(first.memory.content)) return null;
  const names = ({ memory }: Likely, stem: string) => memory.content.toLowerCase().includes(stem);
  const named = before.filter((stem) => names(first, stem));
  const likely = others.filter((one) => {
    const [older, newer] = inTime(one, first);
    const isLikely = one.chance >= CLOSE * first.chance && older === one.memory;
    const areTurns = [older, newer].every(({ content }) => TURN.test(content));
    const isOther = named.some((stem) => !names(one, stem));
    return isLikely && isOther && !areTurns && mayChange(older, newer);
  });
  for (const one of likely.slice(0, READ)) {
    const relation = await relate(text, one.memory.content);
    if (relation && relation.answers >= LEAST_ANSWER) return one;
  }
  return null;
}
