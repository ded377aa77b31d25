import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createRandom, type Random } from "../support/random.ts";
import type { Half } from "./own-sets.ts";

const FOLDER = join(import.meta.dir, "sheets");
/** Other attributes of its subject that each fact is put beside. */
const BESIDE = 2;
/** Questions of each fact. */
const ASKED = 2;

/** What is known of a fact, in sentences of which slots stand for the subject and the values. */
interface Attribute {
  name: string;
  values: string[];
  same: string[];
  changes: string[];
  ends: string[];
  questions: string[];
  reversed: string[];
}

/** A subject in its forms. */
type Subject = string[];

export interface Sheet {
  name: string;
  subjects: Subject[];
  attributes: Attribute[];
}

/** What the later of two texts is to the earlier one. */
interface SheetPair {
  kind: "same" | "changed" | "other";
  earlier: string;
  later: string;
  sheet: string;
}

/** A question, a memory, and whether it tells what is asked for. */
interface SheetAnswer {
  question: string;
  memory: string;
  isAnswer: boolean;
  sheet: string;
}

const LISTS = {
  v: "values",
  "=": "same",
  "~": "changes",
  "-": "ends",
  "?": "questions",
  "<": "reversed",
} as const satisfies Record<string, keyof Attribute>;

/** The sheets of `sheets/`; the model of relations does not learn from those of files that end in `-held`. */
export async function readSheets(half: Half): Promise<Sheet[]> {
  const sheets: Sheet[] = [];
  for (const file of (await readdir(FOLDER)).sort()) {
    if (!file.endsWith(".txt") || file.endsWith("-held.txt") !== (half === "held")) continue;
    for (const line of (await Bun.file(join(FOLDER, file)).text()).split("\n")) {
      const [, sign = "", text = ""] = /^(\S+) (.+)$/.exec(line) ?? [];
      const sheet = sheets.at(-1);
      if (sign === "#") sheets.push({ name: `${file}: ${text}`, subjects: [], attributes: [] });
      else if (sign === "##") sheet?.attributes.push(createAttribute(text));
      else if (sign === "@") sheet?.subjects.push(text.split(" | "));
      else if (line) sheet?.attributes.at(-1)?.[LISTS[sign as keyof typeof LISTS]].push(text);
    }
  }
  return sheets;
}

function createAttribute(name: string): Attribute {
  return { name, values: [], same: [], changes: [], ends: [], questions: [], reversed: [] };
}

/** Pairs of sentences about facts of each sheet, chosen by random numbers that are the same each time. */
export async function readSheetPairs(half: Half): Promise<SheetPair[]> {
  return (await forEachFact(half)).flatMap(({ sheet, random, own, beside }) => {
    const pairs: SheetPair[] = [];
    const add = (kind: SheetPair["kind"], earlier: string, later: string) =>
      pairs.push({ kind, earlier, later, sheet });
    const [one, two] = random.shuffled(own.attribute.same);
    const [value = "", next = ""] = own.values;
    const first = own.say(one, value);
    const later = own.say(random.pick(own.attribute.changes), next, value);
    add("same", first, own.say(two, value));
    add("same", later, own.say(random.pick(own.attribute.same), next));
    add("changed", first, later);
    add("changed", own.say(two, value), own.say(random.pick(own.attribute.same), next));
    const end = own.say(random.pick(own.attribute.ends), value, value);
    add("changed", first, end);
    add("changed", end, own.say(one, next));
    for (const other of beside) {
      const [theirs = ""] = other.values;
      // The same value of another fact is no less another fact.
      const shown = other.attribute === own.attribute && random.next() < 0.5 ? value : theirs;
      const said = [
        other.say(random.pick(other.attribute.same), shown),
        other.say(random.pick(other.attribute.changes), shown),
        other.say(random.pick(other.attribute.ends), shown, shown),
      ];
      add("other", first, random.pick(said) ?? "");
      add("other", random.pick(said) ?? "", later);
    }
    return pairs;
  });
}

/** Questions and memories about facts of each sheet, chosen in the same way. */
export async function readSheetAnswers(half: Half): Promise<SheetAnswer[]> {
  return (await forEachFact(half)).flatMap(({ sheet, random, own, beside }) => {
    const answers: SheetAnswer[] = [];
    const add = (question: string, memory: string, isAnswer: boolean) =>
      answers.push({ question, memory, isAnswer, sheet });
    const { attribute, say } = own;
    const [value = "", next = ""] = own.values;
    const asked = random.shuffled(attribute.questions).map((shape) => say(shape));
    for (const question of asked.slice(0, ASKED)) {
      add(question, say(random.pick(attribute.same), value), true);
      add(question, say(random.pick(attribute.same), next), true);
      add(question, say(random.pick(attribute.changes), next, value), true);
      add(question, say(random.pick(attribute.ends), value, value), true);
      for (const other of beside) {
        const shapes = [other.attribute.same, other.attribute.changes, other.attribute.ends];
        const shape = random.pick(random.pick(shapes) ?? []);
        add(question, other.say(shape), false);
      }
    }
    // Whoever asked before has not told it.
    const [first = "", ...others] = asked;
    const again = others.at(-1) ?? first;
    add(first, random.next() < 0.5 ? `User: ${again}` : again, false);
    for (const shape of attribute.reversed) {
      const question = shape.replaceAll("{v}", value);
      add(question, say(random.pick(attribute.same), value), true);
      add(question, say(random.pick(attribute.same), next), false);
      const elsewhere = beside.find((other) => other.attribute !== attribute);
      if (elsewhere) add(question, elsewhere.say(random.pick(elsewhere.attribute.same)), false);
    }
    return answers;
  });
}

/** A fact with values of its own, which says sentences of its attribute. */
type Fact = ReturnType<typeof createFact>;

export function createFact({ attribute, subject }: Cell, random: Random) {
  const values = random.shuffled(attribute.values);
  const [form = "", second = form] = subject;
  return {
    attribute,
    values,
    say(shape = "", value = values[0] ?? "", former?: string): string {
      const before = former ?? values.find((other) => other !== value) ?? "";
      const said = shape
        .replaceAll("{s}", form)
        .replaceAll("{d}", second)
        .replaceAll("{v}", value)
        .replaceAll("{o}", before);
      return said.charAt(0).toUpperCase() + said.slice(1);
    },
  };
}

interface Cell {
  attribute: Attribute;
  subject: Subject;
}

/** All facts of a sheet. */
export function cellsOf({ subjects, attributes }: Pick<Sheet, "subjects" | "attributes">): Cell[] {
  return subjects.flatMap((subject) => attributes.map((attribute) => ({ attribute, subject })));
}

/** Each fact of the sheets, with facts beside it: of the subject most like its own, of another one, and other ones of its own. */
async function forEachFact(half: Half) {
  const facts: { sheet: string; random: Random; own: Fact; beside: Fact[] }[] = [];
  const random = createRandom(1);
  for (const { name: sheet, subjects, attributes } of await readSheets(half)) {
    for (const subject of subjects) {
      const others = subjects.filter((other) => other !== subject);
      const [nearest = subject] = others.toSorted(
        (a, b) => sharedWords(b, subject) - sharedWords(a, subject),
      );
      for (const attribute of attributes) {
        const about = (cells: Cell[]) => cells.map((cell) => createFact(cell, random));
        const further = random.shuffled(attributes).filter((other) => other !== attribute);
        const [own] = about([{ attribute, subject }]);
        const beside = about([
          { attribute, subject: nearest },
          { attribute, subject: random.pick(others) ?? nearest },
          ...further.slice(0, BESIDE).map((other) => ({ attribute: other, subject })),
        ]);
        if (own) facts.push({ sheet, random, own, beside });
      }
    }
  }
  return facts;
}

function sharedWords([one = ""]: Subject, [other = ""]: Subject): number {
  const words = new Set(one.toLowerCase().split(/\W+/));
  return other
    .toLowerCase()
    .split(/\W+/)
    .filter((word) => words.has(word)).length;
}
