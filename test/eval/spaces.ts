import { basename } from "node:path";
import { createProgress } from "../bench/progress.ts";
import type { TestServer } from "../support/server.ts";
import { type Measures, mean, measure } from "./measures.ts";
import { createMember, type Divide } from "./member.ts";
import { withEvaluationServer } from "./server.ts";
import { type EvaluationSet, readSet } from "./set.ts";

const USAGE = `bun test/eval/spaces.ts FILE…

Measures what a search finds whose answers lie in three places: the person's own account and two spaces. Each
file's memories are in one account first, then divided at random: one by one, and whole sessions.
`;
async function measureSet(server: TestServer, set: EvaluationSet, divide: Divide) {
  const ask = await createMember(server, set.memories, divide);
  const measures: Measures[] = [];
  for (const { question, evidence } of set.questions) {
    if (evidence.length > 0) measures.push(measure(await ask(question), evidence));
  }
  return measures;
}

const files = process.argv.slice(2);
if (files.length === 0) {
  process.stderr.write(USAGE);
  process.exit(2);
}
await withEvaluationServer(async (server) => {
  const progress = createProgress("sets", files.length);
  const all = new Map<Divide, Measures[]>();
  for (const [at, file] of files.entries()) {
    const set = await readSet(file);
    for (const divide of ["together", "by memory", "by session"] as const) {
      const measures = await measureSet(server, set, divide);
      all.set(divide, [...(all.get(divide) ?? []), ...measures]);
      const { recall, reciprocalRank, questions } = mean(measures);
      const figures = [...recall, reciprocalRank].map((value) => value.toFixed(3)).join(" ");
      process.stdout.write(`${basename(file)} ${divide}: ${questions} questions, ${figures}\n`);
    }
    progress.report(at + 1);
  }
  progress.end();
  for (const [divide, measures] of all) {
    const { recall, reciprocalRank, questions } = mean(measures);
    const figures = [...recall, reciprocalRank].map((value) => value.toFixed(3)).join(" ");
    process.stdout.write(`all, ${divide}: ${questions} questions, @1 @5 @10 @20 MRR ${figures}\n`);
  }
});
