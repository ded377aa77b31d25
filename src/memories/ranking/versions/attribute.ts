import { contentWords, createReader, type HasContent, isAsking, stemOf } from "../fact-text.ts";

/** Whom or when a sentence is from, before what it says: "As of 3 May, …", "Anna said that …", "Decision: …". */
const INTRODUCTION =
  /^(?:[^,.:]{1,40}\b(?:said|says|decided|told (?:me|us)) that |(?:user|assistant|decision|correction|update|note|entscheidung|korrektur|notiz): |(?:as of|since|from|stand|seit|ab) [\p{L}\p{N} -]{1,30}?(?:,|(?= (?:ist|sind) )) ?|laut \p{L}+ )+/iu;
const BRACKETS = / ?\([^()]{0,80}\)/g;
const IS = "(?:is|are|ist|sind|lautet)";
/** What stands between an attribute and its value, in a sentence and in a note. */
const VERB = `(?: ${IS}(?: (?:now|currently|jetzt|derzeit))? | (?:has )?changed | wurde |: )`;
const SENTENCE = new RegExp(`^(.{1,80}?)${VERB}(.{1,80})$`, "u");
const FOLLOWS = new RegExp(`^${VERB}(.+)$`, "u");
const AFTER_VERB = new RegExp(`^${IS} `, "u");
const BEFORE_END = new RegExp(`^(.+) ${IS}(?: (?:now|jetzt))? $`, "u");
const DETERMINER =
  /^(?:the|my|our|your|his|her|their|\p{L}+'s|der|die|das|mein\p{L}{0,2}|dein\p{L}{0,2}|unser\p{L}{0,2}|ihr\p{L}{0,2}) /u;
export const CONNECTOR = "(?:of|for|in|on|von|vom|für|der|des|dem|im)";
/** Words that tell nothing apart. Possessives do: "my sister" is not "her sister". */
const ARTICLES =
  /(?<= )(?:the|der|die|das|den|dem) (?:(?:new|current|latest|neue[rsn]?|aktuelle[rsn]?) )?/gu;
/** What connects an attribute with the thing that has it: "the port of the cache", "the editor I want commands for". */
export const CONNECTED = new RegExp(` (?:i|we|${CONNECTOR}) \\S`, "u");
/** The attribute, and the thing. */
const PARTS = new RegExp(`^(.{1,80}) ${CONNECTOR} (.{1,80})$`, "u");
/** A verb within a value: the text says several things. */
const SAYS_SEVERAL = new RegExp(VERB, "u");
/** What an unmarked question has in place of a value. */
const ASKS = /(?:^|[ ,])(?:what|which|who|was|wer|welche[mnrs]?)(?: |$)/u;
/** What the person does with a thing, and its end: "the editor I want commands for". */
const CLAUSE = / (?:i|we) /u;
const CLAUSE_END = / (?:of|for|in|on)$/u;
/** A word that needs another one after it, so that no attribute ends with it. */
const UNENDED =
  / (?:of|for|in|on|who|that|which|whose|where|and|von|vom|für|der|die|das|de[mns]|im|und|the|(?:m|d|s)?ein\p{L}{0,2}|unser\p{L}{0,2}|ihr\p{L}{0,2})$/u;
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
export interface Attribute {
  /** With the thing that has it. */
  whole: string;
  /** The attribute alone, and the thing. After a verb, where the value begins anywhere, the thing may have words of it. */
  head: string;
  thing: string;
  /** What stands before it, if it ends the sentence: "Anna is the head of sales" may tell of Anna. */
  before: string | null;
}

/** What may be the attributes of a memory's sentence. None of a question, of what an assistant said, and of several facts. */
export const attributesOf = createReader((text): readonly Attribute[] => {
  const said = plain(text);
  if (isAsking(said) || text.startsWith("Assistant: ")) return [];
  const named = [...attributesIn(said)].flatMap(([attribute, value]) => {
    const before = said.endsWith(attribute) ? value : null;
    // Of "my birthday is the 3rd of May" the end is a value.
    const isValue = before !== null && DETERMINER.test(before);
    return isValue || SAYS_SEVERAL.test(value) || ASKS.test(value) ? [] : { attribute, before };
  });
  const begun = beginnings(said).map((attribute) => ({ attribute, before: null }));
  return [...named, ...begun].map(({ attribute, before }) => {
    const whole = withoutArticles(attribute).trim();
    const [, head = whole, thing = ""] = PARTS.exec(whole) ?? [];
    return { whole, head, thing, before };
  });
});

/** The most words of an attribute after a verb. */
const MOST_WORDS = 9;

/** What may be the attribute of a sentence that begins with its verb. */
function beginnings(text: string): string[] {
  if (!AFTER_VERB.test(text)) return [];
  const words = text.replace(AFTER_VERB, "").split(" ").slice(0, MOST_WORDS);
  return words.map((_, at) => words.slice(0, at).join(" ")).filter(isAttribute);
}

/**
 * How two memories tell different attributes by their words: the same one of another thing, or another one of the same thing,
 * such as the port and the region of the cache. The second may be one attribute in other words.
 */
export function tellOthers(one: HasContent, other: HasContent): "thing" | "attribute" | null {
  const kinds = new Set(
    attributesOf(one).flatMap((a) => attributesOf(other).flatMap((b) => otherOf(a, b) ?? [])),
  );
  if (kinds.size === 0 || shareAttribute(one.content, other.content)) return null;
  return kinds.has("thing") ? "thing" : "attribute";
}

function otherOf(a: Attribute, b: Attribute): "thing" | "attribute" | null {
  if (a.before !== null && a.before === b.before) return null;
  if (a.head === b.head) return shareWord(a.thing, b.thing) ? null : "thing";
  const isOfSame = a.thing === b.thing && a.thing !== "";
  return isOfSame && !shareWord(a.head, b.head) ? "attribute" : null;
}

export function withoutArticles(text: string): string {
  return ` ${text}`.replaceAll(ARTICLES, "");
}

export function shareWord(one: string, other: string): boolean {
  const words = contentWords(other);
  return one === other || contentWords(one).some((word) => hasForm(words, word));
}

/** Whether a name has all words of another one and more, such as "staging gateway" and "gateway". */
export function hasMoreWords(name: string, other: string): boolean {
  const [words, others] = [contentWords(name), contentWords(other)];
  const isLonger = words.length > others.length && others.length > 0;
  return isLonger && others.every((word) => hasForm(words, word));
}

function hasForm(words: readonly string[], word: string): boolean {
  return words.some((each) => each.startsWith(stemOf(word)) || word.startsWith(stemOf(each)));
}

function plain(text: string): string {
  const said = text.toLowerCase().replace(BRACKETS, "").trim().replace(/[.!]$/, "");
  return said.replace(INTRODUCTION, "");
}

function isAttribute(text: string): boolean {
  const isEnded = !UNENDED.test(text) || (CLAUSE.test(text) && CLAUSE_END.test(text));
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
