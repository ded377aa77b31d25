import { statSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { SEARCH_MODES, type SearchMode } from "../../src/memories/ranking/question.ts";
import { createProgress } from "../bench/progress.ts";
import type { TestServer } from "../support/server.ts";
import { createAccount } from "./account.ts";
import { measureAll, measureOwn } from "./measure-all.ts";
import { askAll } from "./recall.ts";
import { recallFigures } from "./recall-situations.ts";
import { formatTable, summarise } from "./report.ts";
import { withEvaluationServer } from "./server.ts";
import { type EvaluationSet, readSet } from "./set.ts";
import { sheetFigures } from "./sheet-stores.ts";
import { readKeptStores } from "./stores.ts";
import { formatFigures, isMissed } from "./table.ts";
import { unsaidFigures } from "./unsaid.ts";
import { versionFigures } from "./versions.ts";

const USAGE = `bun run eval [FOLDER | FILE… | --stores] [--modes] [--json]

Measures what searches find and what they keep quiet about, and tells what was asked of it. Vectors are
kept in node_modules/.cache, so that only the first run waits for the model.
  without any  our own sets
  FOLDER       our own sets and those of the folder: recall, foreign questions, all in one account
  FILE…        recall of each file by category; the format is that of test/eval/own/facts.json
  --stores     recall of the kept fifth of test/eval/stores, in one account, by what makes a question hard
  --modes      also by meaning alone and by words alone
  --json       results for machines
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    modes: { type: "boolean", default: false },
    stores: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stderr.write(USAGE);
  process.exit(0);
}
const modes: readonly SearchMode[] = values.modes ? SEARCH_MODES : ["hybrid"];

await withEvaluationServer(async (server, embedder) => {
  const [folder] = positionals;
  if (values.stores) {
    await reportSets(server, [{ name: "stores", set: await readKeptStores() }], modes);
    return;
  }
  if (folder === undefined || statSync(folder).isDirectory()) {
    const figures =
      folder === undefined
        ? await measureOwn(server, modes)
        : await measureAll(server, folder, modes);
    figures.push(...(await versionFigures("held", embedder)));
    figures.push(...(await sheetFigures("held", embedder)));
    figures.push(...(await unsaidFigures("held", embedder)));
    figures.push(...(await recallFigures(server)));
    print(figures, formatFigures(figures));
    if (figures.some(isMissed)) process.exitCode = 1;
    return;
  }
  const sets = await Promise.all(
    positionals.map(async (path) => ({ name: basename(path), set: await readSet(path) })),
  );
  await reportSets(server, sets, SEARCH_MODES);
});

/** Prints the recall of sets that have an account each, by category. */
async function reportSets(
  server: TestServer,
  sets: readonly { name: string; set: EvaluationSet }[],
  modes: readonly SearchMode[],
): Promise<void> {
  const answers = [];
  const progress = createProgress(sets[0]?.name ?? "", sets.length);
  for (const [at, { set }] of sets.entries()) {
    const account = await createAccount(server, set.memories);
    for (const mode of modes) answers.push(...(await askAll(set, account, { mode })));
    progress.report(at + 1);
  }
  progress.end();
  const lines = summarise(answers);
  print(lines, formatTable(lines));
}

function print(results: unknown, table: string) {
  process.stdout.write(`${values.json ? JSON.stringify(results, null, 2) : table}\n`);
}
