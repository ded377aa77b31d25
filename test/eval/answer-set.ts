import { calibrate, FLOOR } from "../../src/memories/ranking/chance.ts";
import { WEIGHTS } from "../../src/memories/ranking/rank.ts";
import { readGroups } from "./groups.ts";
import { ownGroups } from "./measure-all.ts";
import { withEvaluationServer } from "./server.ts";
import { createAsker } from "./training/examples.ts";

/**
 * `bun test/eval/answer-set.ts FOLDER` chooses `ANSWER_SHARE` in `src/memories/ranking/chance.ts`: what share of the
 * best result's chance a result needs to be returned as an answer. It prints how many of ten results are returned, and
 * how much of the evidence they have. The largest share counts that costs no set more than `MOST_LOST`.
 */

const RESULTS = 10;
const MOST_LOST = 0.01;
const SHARES = [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7];

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("which folder has the sets?");
await withEvaluationServer(async (_, embedder) => {
  for (const { name, files } of [...(await readGroups(folder)), ...(await ownGroups())]) {
    const totals = SHARES.map(() => ({ returned: 0, recall: 0 }));
    let questions = 0;
    for (const { set } of files) {
      const asker = await createAsker(set, embedder);
      for (const { question: text, evidence } of set.questions) {
        if (evidence.length === 0) continue;
        const { ids, ...results } = await asker.ask(text, WEIGHTS);
        const first = calibrate(results).slice(0, RESULTS);
        questions++;
        for (const [at, total] of totals.entries()) {
          const least = Math.max(FLOOR, (SHARES[at] ?? 0) * (first[0]?.chance ?? 0));
          const answers = first.filter(({ chance }) => chance >= least);
          const found = answers.filter(({ memory }) => evidence.includes(ids.get(memory.id) ?? ""));
          total.returned += answers.length;
          total.recall += found.length / evidence.length;
        }
      }
      asker.close();
    }
    const [all] = totals;
    process.stdout.write(`${name} (${questions})\n`);
    for (const [at, { returned, recall }] of totals.entries()) {
      const lost = ((all?.recall ?? 0) - recall) / questions;
      const cells = [
        SHARES[at],
        (returned / questions).toFixed(2),
        (recall / questions).toFixed(3),
      ];
      process.stdout.write(
        `  ${cells.join("  ")}  ${lost > MOST_LOST ? "loses" : ""} ${lost.toFixed(4)}\n`,
      );
    }
  }
});
