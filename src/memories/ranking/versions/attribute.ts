/** Whom or when a sentence is from, before what it says: "As of 3 May, …", "Anna said that …", "Decision: …". */
const INTRODUCTION =
  /^(?:[^,.:]{1,40}\b(?:said|says|decided|told (?:me|us)) that |(?:user|assistant|decision|correction|update|note|entscheidung|korrektur|notiz): |(?:as of|since|from|stand|seit|ab) [\p{L}\p{N} -]{1,30}?(?:,|(?= (?:ist|sind) )) ?|laut \p{L}+ )+/iu;
const BRACKETS = /\s*\([^)]*\)/g;
const IS = "(?:is|are|was|were|ist|sind|lautet)";
/** What follows an attribute in a sentence about it, and in a note. */
const VERB = `(?: ${IS}(?: (?:now|currently|jetzt|derzeit))? | (?:has )?changed | wurde |: )`;
const SENTENCE = new RegExp(`^(.{2,80}?)${VERB}(.{1,80})$`, "u");
const FOLLOWS = new RegExp(`^${VERB}`, "u");
const AFTER_VERB = new RegExp(`^${IS} `, "u");
const BEFORE_END = new RegExp(` ${IS} $`, "u");
const DETERMINER =
  /^(?:the|my|our|your|his|her|their|\p{L}+'s|der|die|das|mein\p{L}{0,2}|dein\p{L}{0,2}|unser\p{L}{0,2}|ihr\p{L}{0,2}) /u;
/** What connects an attribute with the thing that has it: "the port of the cache", "the editor I want commands for". */
const CONNECTED = / (?:of|for|in|on|i|we|von|vom|für|der|des|dem|im) \S/u;
/** A word that needs another one after it, so that no attribute ends with it. */
const UNENDED =
  / (?:of|for|in|on|von|vom|für|der|die|das|de[mns]|im|the|(?:m|d|s)?ein\p{L}{0,2}|unser\p{L}{0,2}|ihr\p{L}{0,2})$/u;

/**
 * The least chance by which the model of relations must take the later of two such texts for a change. Of 38 pairs above it that
 * are no change by other measures, 32 of families and sheets are one.
 */
export const CHANGED_ATTRIBUTE = 0.1;

/**
 * Whether two texts tell the same attribute of the same thing, each in one sentence, such as the port of the cache. Then
 * the later one changes it more often than the model of relations thinks.
 */
export function shareAttribute(one: string, other: string): boolean {
  const [a, b] = [plain(one), plain(other)];
  return (
    attributesIn(a).some((each) => tells(b, each)) ||
    attributesIn(b).some((each) => tells(a, each)) ||
    isAttribute(commonStart(a, b))
  );
}

function plain(text: string): string {
  const said = text.toLowerCase().replace(BRACKETS, "").trim().replace(/[.!]$/, "");
  return said.replace(INTRODUCTION, "");
}

function isAttribute(text: string): boolean {
  return DETERMINER.test(text) && CONNECTED.test(text) && !UNENDED.test(text);
}

/** The sides of a sentence that name an attribute. */
function attributesIn(text: string): string[] {
  const [, ...sides] = SENTENCE.exec(text) ?? [];
  return sides.filter(isAttribute);
}

/** Whether a sentence tells an attribute: at its start, after its verb, or at its end. */
function tells(text: string, attribute: string): boolean {
  if (text.startsWith(attribute)) return FOLLOWS.test(text.slice(attribute.length));
  if (text.endsWith(attribute)) return BEFORE_END.test(text.slice(0, -attribute.length));
  return text.replace(AFTER_VERB, "").startsWith(`${attribute} `);
}

/** The words that two sentences have in common after the verb with which both begin. */
function commonStart(a: string, b: string): string {
  if (!AFTER_VERB.test(a) || !AFTER_VERB.test(b)) return "";
  const [one, other] = [a, b].map((text) => text.replace(AFTER_VERB, "").split(" "));
  const end = one?.findIndex((word, at) => word !== other?.[at]) ?? -1;
  // Each has something more to say.
  return end < 0 || end >= (other?.length ?? 0) ? "" : (one?.slice(0, end).join(" ") ?? "");
}
