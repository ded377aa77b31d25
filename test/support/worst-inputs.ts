/** A part of an expression. Assertions match no text. */
type Part =
  | { kind: "atom"; source: string }
  | { kind: "sequence"; parts: Part[] }
  | { kind: "choice" | "look"; parts: Part[] }
  | { kind: "repeat"; parts: [Part]; min: number; isMany: boolean };

/** From this number of repetitions on, a part is repeated as often as an attacker likes. */
const MANY = 8;
/** Characters from which those of a class are chosen. */
const CHARACTERS = [
  ...Array.from({ length: 95 }, (_, code) => String.fromCharCode(code + 32)),
  ..."\n\t\r\0\x1béß中あア한жωعאกअ\u00a0\u200b\u00ad\u202e\u0301\ufeff…’€😀\u2028",
];
const GROUP = /^\((?:\?(?:<?[=!]|<[^>]+>|[a-z-]*:))?/;
const ATOM =
  /^(?:\[(?:\\[\s\S]|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|k<[^>]*>|[\s\S])|[\s\S])/u;
const COUNTS = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/;
const NO_TEXT = /^(?:[$^]|\\[bB1-9]|\\k<.*)$/;

/** Reads the source of a valid expression. */
function parse(source: string): Part {
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    const found = pattern.exec(source.slice(at));
    at += found?.[0].length ?? 0;
    return found;
  };
  const choice = (): Part => {
    const parts = [sequence()];
    while (take(/^\|/)) parts.push(sequence());
    return { kind: "choice", parts };
  };
  const sequence = (): Part => {
    const parts: Part[] = [];
    while (at < source.length && !/[|)]/.test(source[at] ?? "")) parts.push(repeated(single()));
    return { kind: "sequence", parts };
  };
  const single = (): Part => {
    const [opening] = take(GROUP) ?? [];
    if (opening === undefined) {
      const [atom = ""] = take(ATOM) ?? [];
      return NO_TEXT.test(atom) ? { kind: "sequence", parts: [] } : { kind: "atom", source: atom };
    }
    const part = choice();
    at++;
    return /[=!]$/.test(opening) ? { kind: "look", parts: [part] } : part;
  };
  const repeated = (part: Part): Part => {
    const [counts, least = "", comma, most] = take(COUNTS) ?? [];
    if (counts === undefined) return part;
    const min = counts.startsWith("+") ? 1 : Number(least);
    const max = /^[*+]/.test(counts) || (comma && !most) ? Infinity : Number(most || least || 1);
    return { kind: "repeat", parts: [part], min, isMany: max >= MANY };
  };
  return choice();
}

/** All parts that are repeated many times, with a text that matches what comes before them. */
function* repeats(
  part: Part,
  textOf: (part: Part) => string,
  before = "",
): Generator<{ before: string; unit: string }> {
  let text = before;
  if (part.kind === "repeat" && part.isMany) yield { before, unit: textOf(part.parts[0]) };
  if (part.kind === "atom") return;
  for (const each of part.parts) {
    yield* repeats(each, textOf, text);
    if (part.kind === "sequence") text += textOf(each);
  }
}

function atomsOf(part: Part): string[] {
  return part.kind === "atom" ? [part.source] : part.parts.flatMap(atomsOf);
}

/** Returns a function that makes a short text for a part, as the first option of each choice would match it. */
function createTextOf(charactersOf: (atom: string) => string[]) {
  const textOf = (part: Part): string => {
    if (part.kind === "atom") return charactersOf(part.source)[0] ?? "";
    if (part.kind === "sequence") return part.parts.map(textOf).join("");
    if (part.kind === "repeat") return textOf(part.parts[0]).repeat(Math.max(1, part.min));
    const [first] = part.kind === "choice" ? part.parts : [];
    return first ? textOf(first) : "";
  };
  return textOf;
}

/**
 * Texts on which an expression may take long: runs of the characters of its classes, repetitions of the beginnings of
 * what it matches, and repetitions of its own repeated parts, each also with an end at which it fails.
 * Each is a function of a length.
 */
export function worstInputs({ source, flags }: RegExp): ((length: number) => string)[] {
  const known = new Map<string, string[]>();
  const charactersOf = (atom: string): string[] => {
    let found = known.get(atom);
    if (!found) {
      const one = new RegExp(`^(?:${atom})$`, flags.replace(/[gy]/g, ""));
      found = CHARACTERS.filter((character) => one.test(character));
      known.set(atom, found);
    }
    return found;
  };
  const root = parse(source);
  const textOf = createTextOf(charactersOf);
  const atoms = [...new Set(atomsOf(root))];
  /** How many atoms match a character: those of several are the worst. */
  const counts = new Map<string, number>();
  for (const each of atoms.flatMap(charactersOf)) counts.set(each, (counts.get(each) ?? 0) + 1);
  const shared = [...counts].sort(([, a], [, b]) => b - a).map(([character]) => character);
  const runs = [...shared.slice(0, 6), ...atoms.flatMap((atom) => charactersOf(atom).slice(0, 1))];
  const whole = textOf(root);
  const found = [...repeats(root, textOf)];
  const beginnings = [whole, ...found.map(({ before, unit }) => before + unit)];
  const units = [...runs, ...beginnings, ...found.map(({ before }) => before)];
  const inputs = new Map<string, (length: number) => string>();
  const add = (before: string, unit: string, end: string) => {
    if (unit === "") return;
    const make = (length: number) => {
      const times = Math.max(1, Math.floor((length - before.length - end.length) / unit.length));
      return before + unit.repeat(times) + end;
    };
    inputs.set(JSON.stringify([before, unit, end]), make);
  };
  for (const end of ["", "\0\n"]) {
    for (const unit of units) add("", unit, end);
    for (const { before, unit } of found) {
      add(before, unit, end);
      for (const run of shared.slice(0, 3)) add(before, run, end);
    }
  }
  for (const { before, unit } of found) {
    // Starts of matches, and then what each of them has to read.
    inputs.set(JSON.stringify([before, unit]), (length) => {
      const half = (text: string) => text.repeat(Math.ceil(length / 2 / Math.max(1, text.length)));
      return (half(before) + half(unit)).slice(0, length);
    });
  }
  return [...inputs.values()];
}
