import { contentWords, stemOf } from "../../src/memories/ranking/fact-text.ts";
import type { SetMemory } from "./account.ts";
import type { Group } from "./groups.ts";
import type { ForeignQuestion } from "./own-sets.ts";
import type { EvaluationSet } from "./set.ts";

/** Memories with questions that they answer and questions that they don't. */
export interface ForeignStore {
  /** Stores of one kind are counted together. */
  kind: string;
  /** The file that it is cut out of. */
  file: string;
  memories: readonly SetMemory[];
  answerable: EvaluationSet["questions"];
  foreign: ForeignQuestion[];
}

/** Small stores that are cut out of the sets: how many memories, and how many stores of a group. */
const SMALL = [
  { size: 1, count: 8 },
  { size: 10, count: 6 },
  { size: 100, count: 2 },
] as const;
/** Questions that are taken from the other sets of a group, and from other groups. */
const OTHERS = 30;
/** The kind of questions that a store answers but for one word. They are counted apart. */
export const OTHER_WORD = "other word";
/** Names and identifiers within a question. */
const STRANGER = /(?<=\S )(?:\p{Lu}[\p{L}\p{N}]{3,}|[\p{L}\p{N}]+[-_.][\p{L}\p{N}]+)/gu;
/** The share of letters that two questions have in common that ask the same. */
const ALIKE = 0.7;

/** Stores of all sizes but the largest. */
export function foreignStores(
  groups: readonly Group[],
  generic: readonly ForeignQuestion[],
): ForeignStore[] {
  return groups.flatMap((group) => {
    const elsewhere = groups
      .filter((other) => other !== group && (!other.about || other.about !== group.about))
      .flatMap(({ files }) => files.flatMap(({ set }) => set.questions));
    const large = group.files.map(({ name, set }): ForeignStore => {
      const beside = group.files.filter((file) => file.set !== set);
      return {
        ...{ kind: group.name, file: name },
        memories: set.memories,
        answerable: answerable(set.questions),
        foreign: foreignTo(set.memories, [
          ...generic,
          ...some(beside.flatMap((file) => file.set.questions))
            .filter(({ question }) => !isLikeOneOf(question, set.questions))
            .map(asKind("same source")),
          ...some(elsewhere).map(asKind("other source")),
          ...withOtherWord(some(answerable(set.questions)), set.memories, elsewhere),
        ]),
      };
    });
    const small = SMALL.flatMap(({ size, count }) =>
      Array.from({ length: count }, (_, at): ForeignStore => {
        const whole = large[at % large.length];
        if (!whole) throw new Error(`${group.name} has no sets`);
        const cut = cutOut(whole, size, at);
        const foreign = whole.foreign.filter((_, place) => (place + at) % 3 === 0);
        const kind = `${size} ${size === 1 ? "memory" : "memories"}`;
        return { kind, file: whole.file, ...cut, foreign };
      }),
    );
    return [...large, ...small];
  });
}

/**
 * Questions to which no memory can be an answer: those whose words all stand in one memory are no
 * longer foreign to it.
 */
export function foreignTo(
  memories: readonly SetMemory[],
  questions: readonly ForeignQuestion[],
): ForeignQuestion[] {
  const texts = memories.map(({ content }) => content.toLowerCase());
  return questions.filter(({ question }) => {
    const words = contentWords(question);
    return (
      words.length === 0 ||
      !texts.some((text) => words.every((word) => text.includes(stemOf(word))))
    );
  });
}

/**
 * Questions that a store answers, with their rarest word replaced by a name or a rare word of other questions: they
 * ask for something that the store does not know.
 */
function withOtherWord(
  questions: EvaluationSet["questions"],
  memories: readonly SetMemory[],
  elsewhere: EvaluationSet["questions"],
): ForeignQuestion[] {
  const texts = memories.map(({ content }) => content.toLowerCase());
  const countOf = (word: string) => texts.filter((text) => text.includes(stemOf(word))).length;
  const strangers = elsewhere
    .flatMap(({ question }) => question.match(STRANGER) ?? [])
    .filter((word) => countOf(word.toLowerCase()) === 0);
  const found: ForeignQuestion[] = [];
  for (const [at, { question }] of questions.entries()) {
    const [rarest] = contentWords(question)
      .filter((word) => countOf(word) > 0)
      .sort((a, b) => countOf(a) - countOf(b));
    const stranger = strangers[(at * 37) % Math.max(1, strangers.length)];
    if (!rarest || !stranger) continue;
    const swapped = question.replace(new RegExp(`\\b${rarest}\\b`, "i"), stranger);
    if (swapped !== question) found.push({ question: swapped, kind: OTHER_WORD });
  }
  return found;
}

/** As many questions of a list as are taken from others, evenly spread. */
export function some(questions: EvaluationSet["questions"]): EvaluationSet["questions"] {
  const step = Math.max(1, questions.length / OTHERS);
  return questions.filter((_, at) => Math.floor(at / step) > Math.floor((at - 1) / step));
}

/**
 * Whether a question is nearly one of others: some sets ask the same of several people, whose names
 * their memories don't have.
 */
export function isLikeOneOf(question: string, others: EvaluationSet["questions"]): boolean {
  const own = pairsOf(question);
  return others.some((other) => {
    const pairs = pairsOf(other.question);
    const common = [...own].filter((pair) => pairs.has(pair)).length;
    return common >= ALIKE * Math.max(own.size, pairs.size);
  });
}

/** The pairs of letters that a text has. */
function pairsOf(text: string): Set<string> {
  return new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2)));
}

export function asKind(kind: string) {
  return ({ question }: { question: string }): ForeignQuestion => ({ question, kind });
}

export function answerable(questions: EvaluationSet["questions"]): EvaluationSet["questions"] {
  return questions.filter(({ evidence }) => evidence.length > 0);
}

/** A small store: the evidence of some questions is half of it, or all where it is one memory. */
function cutOut(
  { memories, answerable }: Pick<ForeignStore, "memories" | "answerable">,
  size: number,
  at: number,
): Pick<ForeignStore, "memories" | "answerable"> {
  const most = Math.ceil(size / 2);
  const kept = new Set<string>();
  // A step that no length is a multiple of goes to all of them once.
  for (let turn = 0; turn < answerable.length && kept.size < most; turn++) {
    const { evidence = [] } = answerable[(at * 131 + turn * 7919) % answerable.length] ?? {};
    const grown = new Set([...kept, ...evidence]);
    if (grown.size <= most) for (const id of evidence) kept.add(id);
  }
  for (let turn = 0; turn < memories.length && kept.size < size; turn++) {
    const memory = memories[(at * 173 + turn * 7919) % memories.length];
    if (memory) kept.add(memory.id);
  }
  return {
    memories: memories.filter(({ id }) => kept.has(id)),
    answerable: answerable.filter(({ evidence }) => evidence.every((id) => kept.has(id))),
  };
}
