import { STOP_WORDS } from "../../text/stop-words.ts";

/** German phrases, and what says the same in English. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\bstimmt (?:so )?nicht(?: mehr)?\b/gi, "not true"],
  [/\bnicht (?:mehr|länger)\b/gi, "no longer"],
  [
    /\b(?:ab|von) (?:jetzt|sofort|heute|nun)(?: an)?\b|\b(?:in zukunft|künftig|fortan)\b/gi,
    "from now on",
  ],
  [/\b(?:stellt(?:e)? sich heraus|hat sich herausgestellt)\b/gi, "turned out"],
  [/\b(?:nehme|nimm) (?:ich )?(?:das |es )?zurück\b/gi, "retract"],
  [/\b(?:versprochen|verlesen|verwechselt|vertippt|verhört)\b/gi, "mistaken"],
];

/** German words that say nothing about the subject of a text, or how it has changed, and their English ones. */
const WORDS = new Map(
  [
    "the:der das den dem des",
    "a:ein eine einen einem einer eines",
    "is:ist sei heißt lautet",
    "are:sind seid",
    "was:wurde wurden gewesen",
    "will:wird werden",
    "has:hat habe haben hatte hatten",
    "and:und",
    "or:oder",
    "of:von vom",
    "to:zu zum zur auf",
    "for:für",
    "with:mit",
    "at:bei beim",
    "in:im ins",
    "as:als wie",
    "that:dass daß",
    "it:es",
    "they:sie",
    "he:er",
    "i:ich mir mich",
    "we:wir uns",
    "you:du dir dich ihr euch",
    "my:mein meine meinen meinem meiner meines",
    "our:unser unsere unseren unserem unserer unseres",
    "user:nutzer nutzers nutzerin benutzer benutzerin",
    "what:wer wen wem wo",
    "which:welche welcher welches welchen welchem",
    "when:wann",
    "only:nur",
    "too:auch",
    "but:aber sondern",
    "if:wenn falls",
    "because:weil",
    "so:also",
    "after:nach",
    "before:vor vorher zuvor",
    "without:ohne",
    "not:nicht kein keine keinen keinem keiner",
    "never:nie niemals",
    "nothing:nichts",
    "instead:statt anstatt stattdessen",
    "actually:eigentlich",
    "correction:korrektur berichtigung berichtige berichtigen",
    "wrong:falsch",
    "mistake:fehler tippfehler",
    "scratch:streich streiche",
    "forget:vergiss",
    "ignore:ignoriere",
    "obsolete:hinfällig veraltet abgeschafft",
    "update:update aktualisierung",
    "now:jetzt nun inzwischen mittlerweile",
    "currently:derzeit momentan aktuell",
    "today:heute",
    "since:seit",
    "new:neu neue neuer neues neuen",
    "changed:geändert ändert",
    "switched:umgestellt gewechselt",
    "replaced:ersetzt",
    "moved:verschoben umgezogen",
    "said:gesagt laut",
    "runs:läuft",
    "uses:nutzt verwendet",
    "lives:wohnt",
    "works:arbeitet",
    "days:tage tagen",
    "hours:stunden",
    "minutes:minuten",
    "seconds:sekunden",
    "monday:montag",
    "tuesday:dienstag",
    "wednesday:mittwoch",
    "thursday:donnerstag",
    "friday:freitag",
    "saturday:samstag",
    "sunday:sonntag",
    "two:zwei",
    "three:drei",
    "four:vier",
    "five:fünf",
    "six:sechs",
    "seven:sieben",
    "eight:acht",
    "nine:neun",
    "ten:zehn",
  ].flatMap((line) => {
    const [english = "", all = ""] = line.split(":");
    return all.split(" ").map((german) => [german, english] as const);
  }),
);
/** Words that both languages have: they tell nothing about the language, and are translated in German texts only. */
const OF_BOTH = new Map([
  ["die", "the"],
  ["war", "was"],
  ["waren", "were"],
  ["was", "what"],
  ["an", "at"],
  ["am", "at"],
  ["in", "in"],
  ["so", "so"],
]);
const ENGLISH = new Set(STOP_WORDS);
const WORD = /\p{L}+/gu;

/** A noun after an article or a pronoun, also with an adjective between. Names rarely follow one. */
const COMMON_NOUN =
  /(?<![\p{L}\p{N}_-])(?i:der|die|das|de[mns]|(?:[dkms]?ein|ihr|unser|euer|dies|jed|welch)(?:e[mnrs]?)?|zu[mr]|[ai]m|vom|beim|ins)\s+(?:\p{Ll}+\s+)?\p{Lu}\p{Ll}+(?![\p{L}\p{N}_])/gu;
/** Not the role at the start of a captured turn. */
const NOUN = /(?!^(?:User|Assistant): )(?<![\p{L}\p{N}_-])\p{Lu}\p{Ll}+(?![\p{L}\p{N}_])/gu;

/**
 * A German text with English words in place of those that tell no subject, such as articles, pronouns and words of
 * change; any other text as it is. What reads facts knows the English words.
 */
export function withEnglishWords(text: string): string {
  if (!isGerman(text)) return text;
  const plain = PHRASES.reduce((said, [phrase, english]) => said.replace(phrase, english), text);
  return plain.replace(WORD, (word) => {
    const lower = word.toLowerCase();
    return WORDS.get(lower) ?? OF_BOTH.get(lower) ?? word;
  });
}

/** The same, with nouns in lower case: all have a capital, which tells a name in other languages. */
export function withEnglishNouns(text: string): string {
  const translated = withEnglishWords(text);
  if (translated === text) return text;
  return translated.replace(NOUN, (noun) => noun.toLowerCase());
}

/** The same text, with nouns after an article in lower case: "die Angabe" names nothing, "von Anna" does. */
export function withCommonNouns(text: string): string {
  return isGerman(text) ? text.replace(COMMON_NOUN, (said) => said.toLowerCase()) : text;
}

/** Whether more of a text's function words are German than English. */
function isGerman(text: string): boolean {
  let [german, english] = [0, 0];
  for (const word of text.toLowerCase().match(WORD) ?? []) {
    if (OF_BOTH.has(word)) continue;
    if (WORDS.has(word)) german += 1;
    else if (ENGLISH.has(word)) english += 1;
  }
  return german > english;
}
