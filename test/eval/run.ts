import { basename } from "node:path";
import { parseArgs } from "node:util";
import { SEARCH_MODES } from "../../src/memories/ranking/rank.ts";
import { parseInstant } from "../../src/schema.ts";
import { createProgress } from "../bench/progress.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { startServer } from "../support/server.ts";
import { type Answered, askAll, dayAfter, loadSet, setClock } from "./evaluate.ts";
import { formatTable, summarise } from "./report.ts";
import { readSet } from "./set.ts";

const USAGE = `bun run eval FILE… [--decay] [--now DATE] [--json]

Imports each file into an account of its own, created when it was said, asks all its questions over
HTTP, and tells how much of the evidence is among the first 1, 5, 10 and 20 results, and how long a
search takes. The files have the format of test/eval/own.json.
  --decay   let memories sink with their age, as a search does by default
  --now     the day on which is asked, as 2026-11-21; by default the day after the last memory
  --json    results for machines
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    decay: { type: "boolean", default: false },
    now: { type: "string" },
  },
});
const now = values.now === undefined ? null : parseInstant(values.now);
if (positionals.length === 0 || (values.now !== undefined && now === null)) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const sets = await Promise.all(
  positionals.map(async (path) => ({ name: basename(path), set: await readSet(path) })),
);
const embedder = sharedEmbedder();
const server = await startServer({ embedder });
const answers: Answered[] = [];
try {
  for (const { name, set } of sets) {
    const client = await server.account();
    const progress = createProgress(name, SEARCH_MODES.length * set.questions.length);
    const ids = await loadSet(set, client);
    setClock(server, now ?? dayAfter(set));
    let done = 0;
    for (const mode of SEARCH_MODES) {
      const onAnswer = () => progress.report(++done);
      answers.push(...(await askAll(set, ids, client, { mode, decay: values.decay, onAnswer })));
    }
    progress.end();
  }
} finally {
  await server.close();
  await embedder.close();
}
const lines = summarise(answers);
process.stdout.write(`${values.json ? JSON.stringify(lines, null, 2) : formatTable(lines)}\n`);
