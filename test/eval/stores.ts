import { join } from "node:path";
import { Glob } from "bun";
import type { EvaluationSet } from "./set.ts";

/** Where the stores lie: small collections of memories with questions, written for this project. */
const FOLDER = join(import.meta.dir, "stores");

/**
 * What makes a question hard: it shares words with its evidence, or none; it asks about a time; several memories answer it;
 * the fact has changed; another memory only looks alike; no memory answers it.
 */
export const CATEGORIES = [
  "words",
  "meaning",
  "time",
  "several",
  "changed",
  "alike",
  "none",
] as const;
type Category = (typeof CATEGORIES)[number];

export interface StoreMemory {
  id: string;
  /** A day, or a day and a time. */
  at: string;
  /** Who said it; null for a note. */
  by: string | null;
  text: string;
}

export interface StoreQuestion {
  question: string;
  category: Category;
  /** Ids of the memories that answer it. */
  evidence: string[];
}

export interface TrainingStore {
  file: string;
  title: string;
  kind: string;
  language: string;
  memories: StoreMemory[];
  questions: StoreQuestion[];
}

const HEADING = /^== ([^|]+) \| ([a-z]+) \| ([a-z]{2})$/;
const MEMORY = /^(\w+) (\d{4}-\d\d-\d\d(?: \d\d:\d\d)?)(?: ([^:]{1,40}))?: (.+)$/;
const QUESTION = /^\? (-|\w+(?:,\w+)*) ([a-z]+): (.+)$/;

/** Parses a file of stores. @throws Error that names the line */
export function parseStores(file: string, text: string): TrainingStore[] {
  const stores: TrainingStore[] = [];
  for (const [place, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const [, title = "", kind = "", language = ""] = HEADING.exec(line) ?? [];
    if (title) {
      stores.push({ file, title, kind, language, memories: [], questions: [] });
      continue;
    }
    const problem = addLine(stores.at(-1), line);
    if (problem) throw new Error(`${file}:${place + 1}: ${problem}: ${line.slice(0, 100)}`);
  }
  return stores;
}

/** Adds a memory or a question to a store. @returns what is wrong with the line */
function addLine(store: TrainingStore | undefined, line: string): string | null {
  if (!store) return "a store begins with ==";
  const [, ids = "", name = "", question = ""] = QUESTION.exec(line) ?? [];
  if (question) return addQuestion(store, { ids, name, question });
  const [, id, at = "", by = null, content] = MEMORY.exec(line) ?? [];
  if (!id || !content || Number.isNaN(Date.parse(at))) return "neither memory nor question";
  if (store.memories.some((memory) => memory.id === id)) return `${id} comes twice`;
  store.memories.push({ id, at, by, text: content });
  return null;
}

function addQuestion(
  { memories, questions }: TrainingStore,
  { ids, name, question }: Record<"ids" | "name" | "question", string>,
): string | null {
  const category = CATEGORIES.find((each) => each === name);
  if (!category) return `no category ${name}`;
  const evidence = ids === "-" ? [] : ids.split(",");
  const unknown = evidence.find((id) => !memories.some((memory) => memory.id === id));
  if (unknown) return `no memory ${unknown} before it`;
  if ((category === "none") !== (evidence.length === 0)) return "none has no evidence";
  questions.push({ question, category, evidence });
  return null;
}

/** All stores, in the order of their files. */
export async function readStores(folder = FOLDER): Promise<TrainingStore[]> {
  const files = [...new Glob("*.txt").scanSync(folder)].sort();
  const all = files.map(async (file) =>
    parseStores(file, await Bun.file(join(folder, file)).text()),
  );
  return (await Promise.all(all)).flat();
}

/** Every fifth store is kept for the test: nothing learns from it. @param place among all stores, from 0 */
export const isKept = (place: number): boolean => (place + 1) % 5 === 0;

/** A memory as a model reads it, with its speaker. */
export const textOf = ({ by, text }: StoreMemory): string => (by ? `${by}: ${text}` : text);

/** The stores that are kept, as the memories of one account. What somebody said has its store as session. */
export async function readKeptStores(): Promise<EvaluationSet> {
  const kept = (await readStores()).filter((_, place) => isKept(place));
  const nameOf = (place: number, id: string) => `${place}.${id}`;
  return {
    memories: kept.flatMap(({ title, memories }, place) =>
      memories.map((memory) => ({
        id: nameOf(place, memory.id),
        said_at: `${memory.at.replace(" ", "T")}${memory.at.includes(" ") ? ":00Z" : "T12:00:00Z"}`,
        content: textOf(memory),
        ...(memory.by && { session_id: title }),
      })),
    ),
    questions: kept.flatMap(({ questions }, place) =>
      questions.map(({ evidence, ...question }) => ({
        ...question,
        evidence: evidence.map((id) => nameOf(place, id)),
      })),
    ),
  };
}
