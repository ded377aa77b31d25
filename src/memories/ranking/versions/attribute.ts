import {
  contentWords,
  createReader,
  type FactMemory,
  isAsking,
  MAX_FACT_LENGTH,
  mayBeVersion,
  stemOf,
} from "../fact-text.ts";

type HasContent = Pick<FactMemory, "content">;

/** Whom or when a sentence is from, before what it says: "As of 3 May, …", "Anna said that …", "Decision: …". */
const INTRODUCTION =
  /^(?:[^,.:]{1,40}\b(?:said|says|decided|told (?:me|us)) that |(?:user|assistant|decision|correction|update|note|entscheidung|korrektur|notiz): |(?:as of|since|from|stand|seit|ab) [\p{L}\p{N} -]{1,30}?(?:,|(?= (?:ist|sind) )) ?|laut \p{L}+ )+/iu;
const BRACKETS = / ?\([^()]{0,80}\)/g;
const IS = "(?:is|are|ist|sind|lautet)";
/** What stands between an attribute and its value, in a sentence and in a note. */
const VERB = `(?: ${IS}(?: (?:now|currently|jetzt|derzeit))? | (?:has )?changed | wurde |: )`;
const SENTENCE = new RegExp(`^(.{2,80}?)${VERB}(.{1,80})$`, "u");
const FOLLOWS = new RegExp(`^${VERB}(.+)$`, "u");
const AFTER_VERB = new RegExp(`^${IS} `, "u");
const BEFORE_END = new RegExp(`^(.+) ${IS}(?: (?:now|jetzt))? $`, "u");
const DETERMINER =
  /^(?:the|my|our|your|his|her|their|\p{L}+'s|der|die|das|mein\p{L}{0,2}|dein\p{L}{0,2}|unser\p{L}{0,2}|ihr\p{L}{0,2}) /u;
const CONNECTOR = "(?:of|for|in|on|von|vom|für|der|des|dem|im)";
/** Words that tell nothing apart. Possessives do: "my sister" is not "her sister". */
const ARTICLES =
  /(?<= )(?:the|der|die|das|den|dem|des|new|current|latest|neue[rsn]?|aktuelle[rsn]?|derzeitige[rsn]?) /gu;
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
/** What connects an attribute with the thing that has it: "the port of the cache", "the editor I want commands for". */
const CONNECTED = new RegExp(` (?:i|we|${CONNECTOR}) \\S`, "u");
/** The attribute, and the thing. */
const PARTS = new RegExp(`^(.+ ${CONNECTOR}) (.+)$`, "u");
const CLAUSE = / (?:i|we) .+ (?:of|for|in|on)$/u;
/** A word that needs another one after it, so that no attribute ends with it. */
const UNENDED =
  / (?:of|for|in|on|von|vom|für|der|die|das|de[mns]|im|the|(?:m|d|s)?ein\p{L}{0,2}|unser\p{L}{0,2}|ihr\p{L}{0,2})$/u;
/** How a value begins that says more of the same thing instead of another value: "in the safe", "a member of the team". */
const SAYS_MORE =
  /^(?:an?|in|on|at|by|with|to|under|for|not|also|too|called|ein\p{L}{0,2}|im|am|auf|bei|mit|unter|auch|nicht) /u;
/** What follows the number of a value. */
const UNIT = /^[\d.,:]+ (.+)$/u;

/**
 * The least chance by which the model of relations must take the later of two texts that tell one attribute for a change. None
 * of 5,466 true facts of two simulated years counts as outdated for it.
 */
const LEAST_CHANGED = 0.1;

/**
 * Whether a later text gives an attribute another value. Of such texts, each one sentence, the model knows less well that
 * they are about one thing than their words tell.
 * @param changed the chance of a change by the model of relations
 */
export function tellsChange(earlier: string, later: string, changed: number): boolean {
  return changed >= LEAST_CHANGED && shareAttribute(earlier, later);
}

/** Whether two texts tell the same attribute of the same thing, such as the port of the cache, with values of one form. */
export function shareAttribute(one: string, other: string): boolean {
  const [a, b] = [plain(one), plain(other)];
  const isTold = (from: string, by: string) =>
    [...attributesIn(from)].some(([attribute, value]) => {
      const told = valueIn(by, attribute);
      return told !== null && areOfOneForm(value, told);
    });
  return isTold(a, b) || isTold(b, a) || isAttribute(commonStart(a, b));
}

/** An attribute as a memory tells it, without articles. */
interface Attribute {
  /** With the thing that has it. */
  whole: string;
  /** The attribute alone, and the thing. After a verb, where the value begins anywhere, the thing may have words of it. */
  head: string;
  thing: string;
}

/** What may be the attributes of a memory's sentence. */
const attributesOf = createReader((text): readonly Attribute[] => {
  if (isAsking(text)) return [];
  const said = plain(text);
  const named = [...attributesIn(said)].map(([attribute]) => attribute);
  return [...named, ...beginnings(said)].map((attribute) => {
    const whole = withoutArticles(attribute).trim();
    const [, head = whole, thing = ""] = PARTS.exec(whole) ?? [];
    return { whole, head, thing };
  });
});

/** The most memories that mention an attribute, but tell no value of it. */
const MOST_MENTIONS = 1;
/** The most words of an attribute after a verb. */
const MOST_WORDS = 9;

/** What may be the attribute of a sentence that begins with its verb. */
function beginnings(text: string): string[] {
  if (!AFTER_VERB.test(text)) return [];
  const words = text.replace(AFTER_VERB, "").split(" ").slice(0, MOST_WORDS);
  return words.map((_, at) => words.slice(0, at).join(" ")).filter(isAttribute);
}

/**
 * Whether two memories tell different attributes of one thing, or the same one of different things: the region and the port of
 * the cache.
 */
export function tellOthers(one: HasContent, other: HasContent): boolean {
  if (shareAttribute(one.content, other.content)) return false;
  return attributesOf(one).some((a) =>
    attributesOf(other).some(
      (b) =>
        (a.head === b.head && !shareWord(a.thing, b.thing)) ||
        (a.thing === b.thing && !shareWord(a.head, b.head)),
    ),
  );
}

/** What a memory is to a question that names an attribute: it tells it, or the same of something similar or of another thing. */
type Told = "asked" | "similar" | "another";

/** What a question asks for, if it names an attribute. */
export type Asked = ReturnType<typeof readAsked>;

/** Reads the attribute that a question names, such as "the port of the cache". */
export function readAsked(question: string) {
  const asked = withoutArticles(question.toLowerCase());
  const isNamed = CONNECTED.test(asked);
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
  const toldBy = (memory: HasContent): Told | null => {
    if (!isNamed || !mayBeVersion(memory)) return null;
    if (askedIn(memory)) return "asked";
    const told = attributesOf(memory).map(toldOf);
    return told.find((each) => each !== null) ?? null;
  };

  return {
    /** What a memory tells; null for most. */
    toldBy,
    /** Which memories tell what is asked, and if there are any, which others mention it. */
    telling<Result extends { memory: HasContent }>(results: readonly Result[]): Result[] {
      const [told] = results.flatMap(({ memory }) => askedIn(memory) ?? []);
      if (!told) return [];
      const isTelling = ({ memory }: Result) => askedIn(memory) !== undefined;
      const mentioning = results.filter(
        (one) => !isTelling(one) && mentions(one.memory, told.whole),
      );
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

function withoutArticles(text: string): string {
  return ` ${text}`.replaceAll(ARTICLES, "");
}

function shareWord(one: string, other: string): boolean {
  const stems = new Set(contentWords(one).map(stemOf));
  return contentWords(other).some((word) => stems.has(stemOf(word)));
}

function plain(text: string): string {
  const said = text.toLowerCase().replace(BRACKETS, "").trim().replace(/[.!]$/, "");
  return said.replace(INTRODUCTION, "");
}

function isAttribute(text: string): boolean {
  const isEnded = !UNENDED.test(text) || CLAUSE.test(text);
  return DETERMINER.test(text) && CONNECTED.test(text) && isEnded;
}

/** The sides of a sentence that name an attribute, each with the other side, its value. */
function* attributesIn(text: string): Generator<[attribute: string, value: string]> {
  const [, left = "", right = ""] = SENTENCE.exec(text) ?? [];
  if (isAttribute(left)) yield [left, right];
  if (isAttribute(right)) yield [right, left];
}

/** The value that a sentence tells of an attribute: after it, before it, or at the end of an inverted sentence; or null. */
function valueIn(text: string, attribute: string): string | null {
  if (text.startsWith(attribute)) return FOLLOWS.exec(text.slice(attribute.length))?.[1] ?? null;
  if (text.endsWith(attribute))
    return BEFORE_END.exec(text.slice(0, -attribute.length))?.[1] ?? null;
  const rest = text.replace(AFTER_VERB, "");
  return rest.startsWith(`${attribute} `) ? rest.slice(attribute.length + 1) : null;
}

function areOfOneForm(one: string, other: string): boolean {
  const [first, second] = [one, other].map((value) => SAYS_MORE.exec(`${value} `)?.[0]);
  if (first !== second) return false;
  const [a, b] = [one, other].map((value) => UNIT.exec(value)?.[1]);
  return a === undefined || b === undefined || a.split(",")[0] === b.split(",")[0];
}

/** The words that two sentences have in common after the verb with which both begin. */
function commonStart(a: string, b: string): string {
  if (!AFTER_VERB.test(a) || !AFTER_VERB.test(b)) return "";
  const [one, other] = [a, b].map((text) => text.replace(AFTER_VERB, "").split(" "));
  const end = one?.findIndex((word, at) => word !== other?.[at]) ?? -1;
  // Each has something more to say.
  return end < 0 || end >= (other?.length ?? 0) ? "" : (one?.slice(0, end).join(" ") ?? "");
}
