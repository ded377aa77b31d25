import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { percentile } from "../bench/numbers.ts";
import type { Agents } from "./agents.ts";
import {
  type First,
  type Judgement,
  judge,
  KINDS,
  type QuestionKind,
  questionsAt,
} from "./questions.ts";
import type { RecallFigures } from "./recalled.ts";
import type { YearServer } from "./server.ts";
import type { Year } from "./talk.ts";
import { PEOPLE } from "./truth.ts";

const LIMIT = 5;

/** Answers to the questions of one kind. */
export interface KindFigures extends Record<First, number> {
  questions: number;
  /** Those whose answer is among the results. */
  found: number;
}

/** What a month's end looks like. Times are milliseconds, sizes bytes. */
export interface Month {
  month: number;
  kinds: Record<QuestionKind, KindFigures>;
  outdated: number;
  marked: number;
  holding: number;
  wronglyMarked: number;
  begin: RecallFigures;
  prompt: RecallFigures;
  memories: number;
  bytes: number;
  p50: number;
  p95: number;
  /** Secrets that a memory shows. */
  leaked: number;
}

/** An answer that was not right. */
export interface Failure extends Judgement {
  kind: QuestionKind;
  question: string;
  fact: string;
  holds: string | null;
  results: {
    content: string;
    score: number;
    via: string | undefined;
    at: string;
    newer?: string;
  }[];
}

interface Measured {
  server: YearServer;
  year: Year;
  agents: Agents;
  now: number;
  month: number;
  seed: number;
}

/** Asks all questions of a month's end, each twice: the second time is measured, without the model. */
export async function measureMonth({
  server,
  year,
  agents,
  now,
  month,
  seed,
}: Measured): Promise<{ figures: Omit<Month, "begin" | "prompt">; failures: Failure[] }> {
  await server.setClock(now);
  await server.settle();
  const kinds = Object.fromEntries(KINDS.map((kind) => [kind, emptyKind()])) as Month["kinds"];
  const sums = { outdated: 0, marked: 0, holding: 0, wronglyMarked: 0 };
  const failures: Failure[] = [];
  const times: number[] = [];
  for (const { kind, fact, text } of questionsAt(year, now, seed)) {
    const client = agents.clientOf(fact.person.name);
    const query = { limit: LIMIT, known: "true", ...(fact.project && { project: fact.project }) };
    const found = await client.search(text, query);
    const started = performance.now();
    await client.search(text, query);
    times.push(performance.now() - started);
    const judgement = judge(year, { fact }, found);
    const figures = kinds[kind];
    figures.questions += 1;
    figures[judgement.first] += 1;
    figures.found += Number(judgement.isFound);
    sums.outdated += judgement.outdated;
    sums.marked += judgement.marked;
    sums.holding += judgement.holding;
    sums.wronglyMarked += judgement.wronglyMarked;
    if (isRight(kind, judgement.first) && judgement.wronglyMarked === 0) continue;
    const results = found.map(({ content, score, source, created_at, newer }) => ({
      ...{ content, score, via: source?.via, at: created_at },
      ...(newer && { newer: found.find(({ id }) => id === newer)?.content ?? newer }),
    }));
    const holds = fact.withdrawnAt === null ? (fact.versions.at(-1)?.value.en ?? null) : null;
    failures.push({ ...judgement, kind, question: text, fact: fact.id, holds, results });
  }
  let memories = 0;
  for (const { name } of PEOPLE) {
    const { body } = await agents.clientOf(name).send("GET", "/stats");
    memories += Number(Object(body).memories);
  }
  const [p50, p95] = [percentile(times, 0.5), percentile(times, 0.95)];
  const leaked = await leakedSecrets(year, agents);
  const bytes = sizeOf(server.folder);
  return { figures: { month, kinds, ...sums, memories, bytes, p50, p95, leaked }, failures };
}

/** Nothing is right where nothing holds; so is the text that says so. */
export function isRight(kind: QuestionKind, first: First): boolean {
  if (kind === "unsaid") return first === "nothing";
  return (
    first === "right" || ((kind === "withdrawn" || kind === "outlived") && first === "nothing")
  );
}

function emptyKind(): KindFigures {
  return { questions: 0, found: 0, right: 0, stale: 0, marked: 0, other: 0, nothing: 0 };
}

async function leakedSecrets({ secrets }: Year, { clientOf }: Agents): Promise<number> {
  let leaked = 0;
  for (const { name } of PEOPLE) {
    for (const secret of secrets) {
      const found = await clientOf(name).search(secret, { limit: 3, mode: "keyword" });
      leaked += Number(found.some(({ content }) => content.includes(secret)));
    }
  }
  return leaked;
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, entry) =>
      sum +
      (entry.isFile()
        ? (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0)
        : 0),
    0,
  );
}
