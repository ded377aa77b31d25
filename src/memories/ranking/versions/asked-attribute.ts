import {
  createReader,
  type FactText,
  factOf,
  factTokens,
  type HasContent,
  isAsking,
  MAX_FACT_LENGTH,
  mayBeVersion,
} from "../fact-text.ts";
import { withEnglishNouns } from "../german.ts";
import {
  type Attribute,
  attributesOf,
  CONNECTED,
  CONNECTOR,
  hasMoreWords,
  shareAttribute,
  shareWord,
  withoutArticles,
} from "./attribute.ts";

/** What stands between an attribute that is named as a whole and the rest of a question. */
const AT_END =
  /^(?: ?[?!.,;:)](?=[\s"'”)]|$)|$| (?:is|are|was|were|again|now|currently|at moment|please|then|ist|sind|war|lautet|bitte|jetzt|nochmal|noch|sagen|nennen|geben|vergessen|verraten)(?![\p{L}\p{N}]))/u;
/** What stands before an attribute that is asked for itself. "A night in the flat in Porto" asks for no flat. */
const BEFORE_ASKED =
  /(?:^|[?!.,;:(] |(?<![\p{L}\p{N}-])(?:is|are|was|were|what's|who's|what|which|know|knew|forgot|forgotten|needs?|(?:value|wert) (?:has|hat)|(?:tell|give) me|remember|recall|look up|(?:remind me|idea) (?:of|about)|(?:asks?|asked|asking|look|looking) for|as|als|please|now|ist|sind|war|waren|lautet|nochmal|habe|(?:brauche|suche)(?: ich)?|kenn(?:e|st du)|wei(?:ß|ss)(?:t du| ich)|mir|mich an|mal|bitte|momentan|gerade|derzeit|jetzt|aktuell) )$/u;
/** A question for something else than what an attribute is. */
const ASKS_ELSE =
  /(?<![\p{L}\p{N}])(?:where|when|why|how|who has|wo|wann|warum|wieso|weshalb|wie (?!lautet|ist|war))(?![\p{L}\p{N}])/u;
/** The attribute that a question asks for, before the thing. */
const ASKED_HEAD = new RegExp(
  `${BEFORE_ASKED.source.slice(0, -1)}((?:[^ ?!.,;:()]+ ){1,5})${CONNECTOR}$`,
  "u",
);
/** What follows an attribute, up to the end of a part of a sentence. */
const OF_THING = new RegExp(`^ ${CONNECTOR} ([^?!.,;:)]*)`, "u");
/** The most memories that mention an attribute, but tell no value of it. */
const MOST_MENTIONS = 1;
/**
 * What a memory is to a question that names an attribute: it tells it, or the same of another thing, or another attribute of the
 * thing. A similar one, which shares a word with what is asked, may be the same, and one with all of its words and more likely
 * is: "the port of the staging cache" to "the port of the cache".
 */
type Told =
  | "asked"
  | "more exactly"
  | "another thing"
  | "similar thing"
  | "another attribute"
  | "similar attribute";

/** What a question asks for, if it names an attribute. */
export type Asked = ReturnType<typeof readAsked>;

/** Reads the attribute that a question names, such as "the port of the cache". */
export function readAsked(question: string) {
  const asked = withoutArticles(question.toLowerCase().replaceAll("’", "'"));
  const isNamed =
    question.length <= MAX_FACT_LENGTH && CONNECTED.test(asked) && !ASKS_ELSE.test(asked);
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
    const rest = after(head) ?? "";
    const [named = "", other] = OF_THING.exec(rest) ?? [];
    if (other !== undefined) {
      const isSame = thing === other.trim() && AT_END.test(rest.slice(named.length));
      return isSame ? "asked" : compareNames(thing, other, "thing");
    }
    const askedHead = headOf(thing);
    return askedHead === null ? null : compareNames(head, askedHead, "attribute");
  };
  /** The words of the question besides an attribute. */
  const otherKeys = (whole: string) => [...keysOf(question).difference(keysOf(whole))];
  const toldBy = createReader((_, memory): Told | null => {
    if (!isNamed || !mayBeVersion(memory)) return null;
    if (askedIn(memory)) return "asked";
    return (
      attributesOf(memory)
        .map(toldOf)
        .find((each) => each !== null) ?? null
    );
  });

  return {
    /** What a memory tells; null for most. */
    toldBy,
    /**
     * Whether memories tell the attribute of other things, and other attributes of the thing. Then both go by these names, and
     * hardly by others.
     */
    areNamed(results: readonly { memory: HasContent }[]): boolean {
      if (!isNamed) return false;
      const told = new Set(results.map(({ memory }) => toldBy(memory)));
      const isOther = (part: "thing" | "attribute") =>
        told.has(`another ${part}`) || told.has(`similar ${part}`);
      return isOther("thing") && isOther("attribute");
    },
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
      const telling = results.filter((one) => isTelling(one) || mentioning.includes(one));
      // "For Mia, what is the dose?": another memory has a word of the question that none of them has.
      const others = results.filter((one) => !telling.includes(one));
      const areIn = (some: readonly Result[], key: string) =>
        some.some(({ memory }) => factOf(memory).keys.has(key));
      const isMore = otherKeys(whole).some((key) => areIn(others, key) && !areIn(telling, key));
      return isMore ? [] : telling;
    },
    /** Whether one of two memories tells what is asked, and the other one the same of something else. */
    tellsOne(one: HasContent, other: HasContent): boolean {
      const [a, b] = [toldBy(one), toldBy(other)];
      return a !== null && b !== null && (a === "asked") !== (b === "asked");
    },
    /** Whether both of two memories tell what is asked, with values of one kind. A word of the question is in both or none. */
    tellBoth(one: HasContent, other: HasContent): boolean {
      const whole = askedIn(one)?.whole;
      if (whole === undefined || askedIn(other)?.whole !== whole) return false;
      const [a, b] = [factOf(one), factOf(other)];
      if (otherKeys(whole).some((key) => a.keys.has(key) !== b.keys.has(key))) return false;
      const named = keysOf(whole);
      const kindsOf = ({ tokens }: FactText) =>
        new Set(tokens.flatMap(({ key, kind }) => (named.has(key) ? [] : kind)));
      const areOfOneKind = !kindsOf(a).isDisjointFrom(kindsOf(b));
      return areOfOneKind && shareAttribute(one.content, other.content);
    },
  };
}

/** What a memory is that has another name in place of one of the question. */
function compareNames(name: string, asked: string, part: "thing" | "attribute"): Told {
  if (hasMoreWords(name, asked)) return "more exactly";
  return shareWord(name, asked) ? `similar ${part}` : `another ${part}`;
}

/** The words of a text as those of facts. */
function keysOf(text: string): Set<string> {
  return new Set(factTokens(withEnglishNouns(text)).map(({ key }) => key));
}

/** A condition at the beginning: "In staging, …". */
const CONDITION = /^(?:in|on|for|at|during|under|im|am|beim?|für|auf) /i;

/** Whether a memory has some words, and neither asks for them nor tells of them under a condition. */
function mentions(memory: HasContent, words: string): boolean {
  const { content } = memory;
  if (!mayBeVersion(memory) || isAsking(content) || CONDITION.test(content)) return false;
  return withoutArticles(content.toLowerCase()).includes(` ${words} `);
}
