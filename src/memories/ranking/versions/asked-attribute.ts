import { type FactMemory, isAsking, MAX_FACT_LENGTH, mayBeVersion } from "../fact-text.ts";
import {
  type Attribute,
  attributesOf,
  CONNECTED,
  CONNECTOR,
  shareAttribute,
  shareWord,
  withoutArticles,
} from "./attribute.ts";

type HasContent = Pick<FactMemory, "content">;

/** What stands between an attribute that is named as a whole and the rest of a question. */
const AT_END =
  /^(?:$|[?!.,;:)]| (?:is|are|was|were|again|now|please|so|then|to|and|for|ist|sind|war|lautet|bitte|jetzt|nochmal|noch|\p{L}+en(?=[?!.,]|$))(?![\p{L}\p{N}]))/u;
/** What stands before an attribute that is asked for itself. "A night in the flat in Porto" asks for no flat. */
const BEFORE_ASKED =
  /(?:^|[?!.,;:(] |(?<![\p{L}\p{N}-])(?:is|are|was|were|what|which|has|have|had|know|knew|forgot|forgotten|needs?|want|(?:tell|give) me|find|remember|recall|look up|(?:remind me|idea) (?:of|about)|(?:asks?|asked|asking|look|looking) for|please|now|ist|sind|war|waren|lautet|hat|habe|brauche|suche|kenn(?:e|st du)|wei(?:ß|ss)(?:t du| ich)|mir|mich an|ich|man|mal|bitte|momentan|gerade|derzeit|jetzt|aktuell) )$/u;
/** The attribute that a question asks for, before the thing. */
const ASKED_HEAD = new RegExp(
  `${BEFORE_ASKED.source.slice(0, -1)}((?:[^ ?!.,;:()]+ ){1,5})${CONNECTOR}$`,
  "u",
);
/** The rest of a part of a sentence. */
const PHRASE = /^[^?!.,;:)]*/u;
/** The most memories that mention an attribute, but tell no value of it. */
const MOST_MENTIONS = 1;
/** What a memory is to a question that names an attribute: it tells it, or the same of something similar or of another thing. */
type Told = "asked" | "similar" | "another";

/** What a question asks for, if it names an attribute. */
export type Asked = ReturnType<typeof readAsked>;

/** Reads the attribute that a question names, such as "the port of the cache". */
export function readAsked(question: string) {
  const asked = withoutArticles(question.toLowerCase());
  const isNamed = question.length <= MAX_FACT_LENGTH && CONNECTED.test(asked);
  /** What follows some words in the question; null if it does not ask for them. */
  const after = (words: string) => {
    const at = asked.indexOf(` ${words}`) + 1;
    if (at === 0 || !BEFORE_ASKED.test(asked.slice(1, at))) return null;
    return asked.slice(at + words.length);
  };
  const isAsked = ({ whole }: Attribute) => {
    const rest = after(whole);
    return rest !== null && AT_END.test(rest);
  };
  const askedIn = (memory: HasContent) =>
    isNamed && mayBeVersion(memory) ? attributesOf(memory).find(isAsked) : undefined;

  /** What a question asks for of a thing. */
  const headOf = (thing: string) => {
    const at = asked.indexOf(` ${thing}`);
    if (at < 0 || !AT_END.test(asked.slice(at + 1 + thing.length))) return null;
    return ASKED_HEAD.exec(asked.slice(1, at))?.[1] ?? null;
  };
  const toldOf = ({ head, thing }: Attribute): Told | null => {
    if (thing === "") return null;
    const rest = after(`${head} `);
    if (rest !== null) {
      return shareWord(thing, PHRASE.exec(rest)?.[0] ?? "") ? "similar" : "another";
    }
    const askedHead = headOf(thing);
    if (askedHead === null) return null;
    return shareWord(head, askedHead) ? "similar" : "another";
  };
  const readTold = (memory: HasContent): Told | null => {
    if (!isNamed || !mayBeVersion(memory)) return null;
    if (askedIn(memory)) return "asked";
    return (
      attributesOf(memory)
        .map(toldOf)
        .find((each) => each !== null) ?? null
    );
  };
  const known = new Map<HasContent, Told | null>();
  const toldBy = (memory: HasContent): Told | null => {
    const told = known.has(memory) ? (known.get(memory) ?? null) : readTold(memory);
    known.set(memory, told);
    return told;
  };

  return {
    /** What a memory tells; null for most. */
    toldBy,
    /** Which memories tell what is asked, and if there are any, which others mention it. */
    telling<Result extends { memory: HasContent }>(results: readonly Result[]): Result[] {
      // The budget for 2027 rather than the budget.
      const [whole] = results
        .flatMap(({ memory }) => askedIn(memory)?.whole ?? [])
        .sort((a, b) => b.length - a.length);
      if (whole === undefined) return [];
      const isTelling = ({ memory }: Result) => askedIn(memory)?.whole === whole;
      const mentioning = results.filter((one) => !isTelling(one) && mentions(one.memory, whole));
      // Of an attribute little more is said than its value. Of a thing that has such a name, such as the flat in Porto, there is.
      if (mentioning.length > MOST_MENTIONS) return [];
      return results.filter((one) => isTelling(one) || mentioning.includes(one));
    },
    /** Whether one of two memories tells what is asked, and the other one the same of something else. */
    tellsOne(one: HasContent, other: HasContent): boolean {
      const [a, b] = [toldBy(one), toldBy(other)];
      return a !== null && b !== null && (a === "asked") !== (b === "asked");
    },
    /** Whether both of two memories tell what is asked, with values of one form. */
    tellBoth: (one: HasContent, other: HasContent): boolean =>
      toldBy(one) === "asked" &&
      toldBy(other) === "asked" &&
      shareAttribute(one.content, other.content),
  };
}

/** Whether a memory has some words, and does not only ask for them. */
function mentions({ content }: HasContent, words: string): boolean {
  if (content.length > MAX_FACT_LENGTH || isAsking(content)) return false;
  return withoutArticles(content.toLowerCase()).includes(` ${words} `);
}
