/** A period of time, in milliseconds since 1970, without `to` itself. */
interface Span {
  from: number;
  to: number;
}

/** A period that a question names, with its words. */
interface Period extends Span {
  text: string;
}

const DAY = 86_400_000;
/** Milliseconds after a period in which people often still talk about it. */
const LATER = 3 * DAY;

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const GERMAN_MONTHS = "jan feb mär apr mai jun jul aug sep okt nov dez".split(" ");
const GERMAN_MONTH =
  "(januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)";
const GERMAN_WEEKDAYS = "sonntag montag dienstag mittwoch donnerstag freitag samstag".split(" ");
const GERMAN_NUMBERS = "null ein zwei drei vier fünf sechs sieben acht neun zehn".split(" ");
const GERMAN_UNIT = "(tag|woche|monat|jahr)";
const UNIT_OF_GERMAN: Record<string, string> = {
  tag: "day",
  woche: "week",
  monat: "month",
  jahr: "year",
};
const MONTH =
  "(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\\.?";
const WEEKDAYS = "sunday monday tuesday wednesday thursday friday saturday".split(" ");
const NUMBERS = "zero one two three four five six seven eight nine ten".split(" ");
const YEAR = "((?:19|20)\\d\\d)";
const DATE = "(\\d{1,2})(?:st|nd|rd|th)?";
const UNIT = "(day|week|month|year)";

/** Words that name a month only in a context such as "in May". */
const MAY_BE_A_VERB = /^(may|march|mar)$/;

/** What a period is named for that ended before it, or began with it. */
const ENDS_BEFORE =
  /\b(before|until|till|bis|vor (?:de[mr]|(?!ein)\p{L}+ \d{4}))\b(?:[^,;.]|(?<=\d)\.)*$/iu;
const BEGINS_WITH = /\b(since|after|seit|nach de[mr])\b(?:[^,;.]|(?<=\d)\.)*$/iu;

type Read = (words: (string | undefined)[], today: number) => Span | null;

/** Patterns that name a period, the more precise ones first. */
const WAYS: readonly (readonly [RegExp, Read])[] = [
  way(`(?<![\\d-])${YEAR}-(\\d\\d)-(\\d\\d)(?![\\d-])`, ([year, month, date], today) =>
    day(year, Number(month) - 1, date, today),
  ),
  way(`${DATE}(?: of)? ${MONTH}(?:,? ?${YEAR})?\\b`, ([date, month, year], today) =>
    isVerb(month, year) ? null : day(year, monthOf(month), date, today),
  ),
  way(`${MONTH} ${DATE}(?!\\d)(?:,? ?${YEAR})?\\b`, ([month, date, year], today) =>
    isVerb(month, year) ? null : day(year, monthOf(month), date, today),
  ),
  way(`${MONTH},? ${YEAR}\\b`, ([month, year]) => months(Number(year), monthOf(month), 1)),
  way(`(?:in|during|of|last|this|early|late|mid|since)[ -]${MONTH}(?![\\w-])`, ([month], today) =>
    months(yearOfLast(today, monthOf(month), 1), monthOf(month), 1),
  ),
  way(`(?:in|during|of|from|for|since) ${YEAR}\\b`, ([year]) => months(Number(year), 0, 12)),
  way("(today|yesterday)\\b", ([name], today) =>
    days(name?.toLowerCase() === "today" ? today : today - DAY, 1),
  ),
  way(`(\\d{1,3}|an?|${NUMBERS.join("|")}) ${UNIT}s? ago\\b`, ([count, unit], today) =>
    ago(countOf(count), unit, today),
  ),
  way(`(last|this|past) ${UNIT}\\b`, ([which, unit], today) =>
    calendar(unit, which?.toLowerCase() === "this" ? 0 : 1, today),
  ),
  way(`last (${WEEKDAYS.join("|")})\\b`, ([name], today) =>
    lastWeekday(WEEKDAYS.indexOf(name?.toLowerCase() ?? ""), today),
  ),
  way(`(\\d{1,2})\\. ${GERMAN_MONTH}(?: ${YEAR})?(?!\\p{L})`, ([date, month, year], today) =>
    day(year, monthOf(month), date, today),
  ),
  way(`${GERMAN_MONTH} ${YEAR}\\b`, ([month, year]) => months(Number(year), monthOf(month), 1)),
  way(`(?:im|seit|anfang|mitte|ende|letzten) ${GERMAN_MONTH}(?!\\p{L})`, ([month], today) =>
    months(yearOfLast(today, monthOf(month), 1), monthOf(month), 1),
  ),
  way(`(?:in|im jahr|seit) ${YEAR}\\b`, ([year]) => months(Number(year), 0, 12)),
  // "Heute" mostly means "nowadays".
  way("((?:vor)?gestern)(?!\\p{L})", ([name], today) =>
    days(today - (name?.toLowerCase() === "gestern" ? 1 : 2) * DAY, 1),
  ),
  way(
    `vor (\\d{1,3}|${GERMAN_NUMBERS.join("|")})(?:e[mnrs]?)? ${GERMAN_UNIT}(?:e?n|e)?(?!\\p{L})`,
    ([count, unit], today) => ago(countOf(count), UNIT_OF_GERMAN[unit?.toLowerCase() ?? ""], today),
  ),
  way(
    `(letzte[ns]?|vergangene[ns]?|vorige[ns]?|diese[nms]?) ${GERMAN_UNIT}(?:e?s)?(?!\\p{L})`,
    ([which, unit], today) =>
      calendar(
        UNIT_OF_GERMAN[unit?.toLowerCase() ?? ""],
        /^diese/i.test(which ?? "") ? 0 : 1,
        today,
      ),
  ),
  way(`(?:letzten|vergangenen|vorigen) (${GERMAN_WEEKDAYS.join("|")})(?!\\p{L})`, ([name], today) =>
    lastWeekday(GERMAN_WEEKDAYS.indexOf(name?.toLowerCase() ?? ""), today),
  ),
];

/**
 * The period that a question names in English or German, such as "in May 2023", "on 3 June" or "last week". Without a year it is
 * the latest one that is not in the future. Null if the question names none, or one in the future. Days are those of
 * UTC. The name of a month may be that of a person, so memories from other times are found too.
 */
export function readPeriod(question: string, now: number): Period | null {
  const today = now - (now % DAY);
  for (const [pattern, read] of WAYS) {
    const found = pattern.exec(question);
    const period = found && read(found.slice(1), today);
    if (!period || period.from > now) continue;
    const [text] = found;
    const before = question.slice(0, found.index + text.length);
    if (ENDS_BEFORE.test(before)) return null;
    const lasts = BEGINS_WITH.test(before);
    return { ...period, ...(lasts && { to: now }), text };
  }
  return null;
}

/** Whether a memory from that time may be about a period. */
export function isOf({ from, to }: Span, time: number): boolean {
  return time >= from && time < to + LATER;
}

function way(pattern: string, read: Read) {
  return [
    new RegExp(`(?<![\\p{L}\\p{N}_])${pattern.replaceAll(" ", "\\s+")}`, "iu"),
    read,
  ] as const;
}

function isVerb(month: string | undefined, year: string | undefined): boolean {
  return year === undefined && MAY_BE_A_VERB.test(month ?? "");
}

function monthOf(name: string | undefined): number {
  const start = (name ?? "").slice(0, 3).toLowerCase().replace("jän", "jan");
  return Math.max(MONTHS.indexOf(start), GERMAN_MONTHS.indexOf(start));
}

function countOf(text = ""): number {
  const word = text.toLowerCase();
  if (/^an?$/.test(word)) return 1;
  const number = Math.max(NUMBERS.indexOf(word), GERMAN_NUMBERS.indexOf(word));
  return number >= 0 ? number : Number(word);
}

/** The day of the latest such day of the week before today. @param weekday 0 for Sunday */
function lastWeekday(weekday: number, today: number): Span {
  const back = new Date(today).getUTCDay() - weekday;
  return days(today - ((back + 7) % 7 || 7) * DAY, 1);
}

function days(from: number, count: number): Span {
  return { from, to: from + count * DAY };
}

function months(year: number, month: number, count: number): Span {
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + count) };
}

/** The year of the latest such day that is not in the future. */
function yearOfLast(today: number, month: number, date: number): number {
  const year = new Date(today).getUTCFullYear();
  return Date.UTC(year, month, date) > today ? year - 1 : year;
}

function day(year: string | undefined, month: number, date: string | undefined, today: number) {
  const from = Date.UTC(
    year === undefined ? yearOfLast(today, month, Number(date)) : Number(year),
    month,
    Number(date),
  );
  // JavaScript turns 31 June into 1 July.
  return new Date(from).getUTCMonth() === month ? days(from, 1) : null;
}

function ago(count: number, unit: string | undefined, today: number): Span {
  const length = { day: 1, week: 7, month: 30, year: 365 }[unit?.toLowerCase() ?? ""] ?? 1;
  return days(today - (count * length + Math.floor(length / 2)) * DAY, length);
}

/** The day, week (from Monday), month or year that lies `before` units before the present one. */
function calendar(unit: string | undefined, before: number, today: number): Span {
  const date = new Date(today);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  switch (unit?.toLowerCase()) {
    case "year":
      return months(year - before, 0, 12);
    case "month":
      return months(year, month - before, 1);
    case "week":
      return days(today - (((date.getUTCDay() + 6) % 7) + 7 * before) * DAY, 7);
    default:
      return days(today - before * DAY, 1);
  }
}
