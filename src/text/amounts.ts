const ONES = "one two three four five six seven eight nine".split(" ");
const TEENS =
  "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(" ");
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const [HUNDRED, THOUSAND, DOZEN] = [100, 1_000, 12];

const NUMBERS = new Map([
  ["zero", 0],
  ...ONES.map((word, at) => [word, at + 1] as const),
  ...TEENS.map((word, at) => [word, at + 10] as const),
  ...TENS.map((word, at) => [word, 10 * (at + 2)] as const),
]);
/** Ordinals are told from common words: "first", "second" and "third" are only those of a date. */
const ORDINALS = new Map([
  ...["first", "second", "third"].map((word, at) => [word, at + 1] as const),
  ...["fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"].map(
    (word, at) => [word, at + 4] as const,
  ),
  ...TEENS.slice(3).map((word, at) => [`${word}th`, at + 13] as const),
  ["twentieth", 20],
  ["thirtieth", 30],
]);
const anyOf = (words: Iterable<string>) => [...words].join("|");

const MONTHS =
  "January February March April May June July August September October November December".split(
    " ",
  );
const MONTH = `(?:${anyOf(MONTHS)})`;
/** A lone "one" may be a pronoun, as in "no one" and "the blue one". */
const IN_WORDS = new RegExp(
  `\\b(?:(${anyOf(TENS)})[ -](${anyOf(ONES)})|one(?= hundred| thousand| million| o'clock| ?[ap]\\.?m\\b| in the (?:morning|afternoon))|(?<=(?:past|to) )one|${anyOf(["zero", ...ONES.slice(1), ...TEENS, ...TENS])})\\b`,
  "gi",
);
const FEW = "(first|second|third)";
const ORDINAL = new RegExp(
  [
    `\\b(?:(twenty|thirty)[ -])?(?:(${anyOf([...ORDINALS.keys()].slice(3))})`,
    `${FEW}(?= of (?:${MONTH}|each|every|the month)\\b)`,
    `(?<=\\b${MONTH} (?:the )?)${FEW}`,
    `(?<=\\bthe (?:twenty|thirty)[ -])${FEW})\\b`,
  ].join("|"),
  "gi",
);
/** Whether any of those, or a short form, may be in a text: most texts have none. */
const HAS_WORDS = new RegExp(
  `\\b(?:${anyOf([...NUMBERS.keys(), ...ORDINALS.keys()])}|hundred|thousand|million|dozen|fortnight|twice|every other|noon|midnight|half an|an hour)\\b`,
  "i",
);
const HUNDREDS = /\b(?:(\d{1,3})|an?) hundred(?:(?: and)? (\d{1,2}))?\b/gi;
const THOUSANDS = /\b(?:(\d{1,3})|an?) thousand(?:(?: and)? (\d{1,3}))?\b/gi;
const MILLIONS = /\b(?:(\d{1,3})|an?) million\b/gi;
const DOZENS = /\b(?:(\d{1,3})|an?) dozen\b/gi;

const DAY_PART =
  /\b(\d{1,2}(?:[:.][0-5]\d)?)(?: o'clock)?(?: in the (morning|afternoon|evening)| at (night))\b/gi;
const AFTERNOON = /\b(1[0-2]|0?[1-9])(?:[:.]([0-5]\d))?\s?(a|p)\.?m\b\.?/gi;
const SMALL_HOUR = 5;

/** Words and abbreviations with one meaning, as they are compared. */
const SHORT_FORMS: readonly [RegExp, string][] = [
  [/\bhalf an hour\b/gi, "30 minutes"],
  [/\ban hour and a half\b/gi, "90 minutes"],
  [/\b(?:a )?fortnight\b/gi, "2 weeks"],
  [/\btwice\b/gi, "2"],
  [/\bevery other\b/gi, "every 2"],
  [/\bnoon\b/gi, "12"],
  [/\bmidnight\b/gi, "0"],
];
const DIGIT_FORMS: readonly [RegExp, string][] = [
  [/(?<=\d),(?=\d{3}\b)/g, ""],
  [/\b(\d+)(?:st|nd|rd|th)\b/gi, "$1"],
  [/\bhalf past (\d{1,2})\b/gi, "$1:30"],
  [/\bquarter past (\d{1,2})\b/gi, "$1:15"],
  [/\b(\d) past (\d{1,2})\b/gi, "$2:0$1"],
  [/\b(\d{2}) past (\d{1,2})\b/gi, "$2:$1"],
];
const QUARTER_TO = /\bquarter to (\d{1,2})\b/gi;
const FULL_HOUR = /\b(\d{1,2})[:.]00\b/g;
const O_CLOCK = /\b(\d{1,2}) o'clock\b/gi;

/** Units, in the form in which they are compared: one word with their number, so that another unit is another value. */
const UNITS: readonly [string, string][] = [
  ["ms|milliseconds?", "millisecond"],
  ["s|secs?|seconds?", "second"],
  ["mins?|minutes?", "minute"],
  ["h|hrs?|hours?", "hour"],
  ["d|days?", "day"],
  ["wks?|weeks?", "week"],
  ["months?", "month"],
  ["yrs?|years?", "year"],
  ["kb|kilobytes?", "kb"],
  ["mb|megabytes?", "mb"],
  ["gb|gigabytes?", "gb"],
  ["tb|terabytes?", "tb"],
  ["g|grams?", "gram"],
  ["kg|kilos?|kilograms?", "kg"],
  ["cm|centimet(?:re|er)s?", "cm"],
  ["mm|millimet(?:re|er)s?", "mm"],
  ["m|met(?:re|er)s?", "metre"],
  ["km|kilomet(?:re|er)s?", "km"],
  ["ml|millilit(?:re|er)s?", "ml"],
  ["l|lit(?:re|er)s?", "litre"],
  ["euros?|eur", "euro"],
  ["dollars?|usd", "dollar"],
  ["pounds?|gbp", "pound"],
];
const UNIT = new RegExp(`(\\d)[ -]?(?:${UNITS.map(([forms]) => `(${forms})`).join("|")})\\b`, "gi");
const PERCENT = /(\d) ?(?:%|per ?cent\b)/gi;
const SIGNS = new Map([
  ["€", "euro"],
  ["$", "dollar"],
  ["£", "pound"],
]);
const SIGN_BEFORE = /([€$£]) ?(\d[\d.]*)/g;
const SIGN_BEHIND = /(\d) ?([€$£])/g;

/** Abbreviations that are common words or names without their capital or a number beside them. */
const WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");
const WEEKDAY =
  /\b(?:([Tt]ue|[Tt]hu|[Ff]ri)(?:r?s|r)?|(Mon|Wed)|(?<=[\d\p{L}/(–-] ?)(Sat|Sun))\b(?!['’])\.?/gu;
const MONTH_SHORT = anyOf(MONTHS.map((month) => month.slice(0, 3)).concat("sept"));
const MONTH_BESIDE_NUMBER = new RegExp(
  `(?<=\\b\\d{1,2}\\.? )(${MONTH_SHORT})\\b\\.?|\\b(${MONTH_SHORT})\\b\\.?(?= \\d)`,
  "gi",
);

/**
 * Writes numbers, times, dates and amounts of an English text in one form, so that the same one is the same word: "3 pm"
 * and "fifteen o'clock", "30s" and "thirty seconds", "Thu" and "Thursday". The result is for comparing only.
 */
export function withPlainAmounts(text: string): string {
  const dated = replaceAbbreviations(text);
  const plain = HAS_WORDS.test(dated) ? replaceWords(dated) : dated;
  return /\d/.test(plain) ? withPlainUnits(withPlainHours(withPlainTimes(plain))) : plain;
}

function replaceWords(text: string): string {
  const times = (factor: number) => (_: string, count?: string, rest?: string) =>
    String(Number(count ?? 1) * factor + Number(rest ?? 0));
  const plain = text
    .replace(ORDINAL, (_, tens: string | undefined, ...words: (string | undefined)[]) =>
      String(numberOf(tens) + (ORDINALS.get(words.find(Boolean)?.toLowerCase() ?? "") ?? 0)),
    )
    .replace(IN_WORDS, (whole, tens: string | undefined, ones: string | undefined) =>
      String(tens ? numberOf(tens) + numberOf(ones) : numberOf(whole)),
    )
    .replace(HUNDREDS, times(HUNDRED))
    .replace(THOUSANDS, times(THOUSAND))
    .replace(MILLIONS, (_, count?: string) => String(Number(count ?? 1) * THOUSAND ** 2))
    .replace(DOZENS, (_, count?: string) => String(Number(count ?? 1) * DOZEN));
  return SHORT_FORMS.reduce((now, [from, to]) => now.replace(from, to), plain);
}

function numberOf(word = ""): number {
  return NUMBERS.get(word.toLowerCase()) ?? 0;
}

function replaceAbbreviations(text: string): string {
  const longer = (short: string, words: readonly string[]) =>
    words.find((word) => word.toLowerCase().startsWith(short.toLowerCase().slice(0, 3))) ?? short;
  return text
    .replace(WEEKDAY, (_, ...short: (string | undefined)[]) =>
      longer(short.slice(0, 3).find(Boolean) ?? "", WEEKDAYS),
    )
    .replace(MONTH_BESIDE_NUMBER, (whole) => longer(whole, MONTHS));
}

function withPlainTimes(text: string): string {
  return DIGIT_FORMS.reduce((now, [from, to]) => now.replace(from, to), text)
    .replace(QUARTER_TO, (_, hour: string) => `${(Number(hour) + 11) % 12 || 12}:45`)
    .replace(DAY_PART, (_, time: string, part: string | undefined) => {
      const isMorning = part ? /morning/i.test(part) : Number.parseInt(time, 10) <= SMALL_HOUR;
      return `${time} ${isMorning ? "am" : "pm"}`;
    })
    .replace(O_CLOCK, "$1");
}

/** Writes "3 pm" and "15:00" as 15. */
export function withPlainHours(text: string): string {
  return text
    .replace(AFTERNOON, (_, hour: string, minutes: string | undefined, half: string) => {
      const hours = (Number(hour) % 12) + (half.toLowerCase() === "p" ? 12 : 0);
      return minutes && minutes !== "00" ? `${hours}:${minutes}` : String(hours);
    })
    .replace(FULL_HOUR, "$1");
}

function withPlainUnits(text: string): string {
  return text
    .replace(SIGN_BEFORE, (_, sign: string, amount: string) => `${amount} ${SIGNS.get(sign)}`)
    .replace(SIGN_BEHIND, (_, digit: string, sign: string) => `${digit} ${SIGNS.get(sign)}`)
    .replace(PERCENT, "$1%")
    .replace(UNIT, (_, digit: string, ...forms: (string | undefined)[]) => {
      const at = forms.slice(0, UNITS.length).findIndex((form) => form !== undefined);
      return `${digit}_${UNITS[at]?.[1]}`;
    });
}
