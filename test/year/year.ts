import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drawChart } from "../bench/chart.ts";
import { chartsOf, tableOf } from "./curves.ts";
import { runYear } from "./run.ts";
import { distilling, tidying, together } from "./variants.ts";

const ROOT = join(import.meta.dir, "..", "..");

const USAGE = `bun run year [--per-week 40] [--weeks 52] [--seed 1] [--tidy] [--distil] [--out FOLDER]

Lives a simulated year with the real server: two people talk to four agents, and what they say is known to be true or
not. Measures at each month's end what is found, recalled and stale, and draws the curves.
  --per-week N   sessions of a week (40); 10 takes a few minutes
  --weeks N      weeks (52)
  --seed N       another year (1)
  --tidy         what tidying proposes is accepted at each month's end
  --distil       an agent distils what was captured each week
  --out FOLDER   for year.json, failures.json, year.md and the pictures (dist/year)
`;

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "per-week": { type: "string", default: "40" },
      weeks: { type: "string", default: "52" },
      seed: { type: "string", default: "1" },
      out: { type: "string", default: join(ROOT, "dist", "year") },
      tidy: { type: "boolean", default: false },
      distil: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const { out } = values;
  mkdirSync(out, { recursive: true });
  const started = performance.now();
  const perWeek = Number(values["per-week"]);
  const variants = [
    ...(values.distil ? [distilling(perWeek)] : []),
    ...(values.tidy ? [tidying] : []),
  ];
  const { months, failures, faults } = await runYear({
    seed: Number(values.seed),
    perWeek,
    variant: together(variants),
    weeks: Number(values.weeks),
    cache: join(ROOT, "node_modules", ".cache", "ctxd-eval", "embedded.sqlite"),
    onMonth: ({ month, memories }) => {
      const seconds = Math.round((performance.now() - started) / 1_000);
      console.error(`month ${month}: ${memories} memories, after ${seconds} s`);
    },
  });
  await Bun.write(join(out, "year.json"), JSON.stringify(months, null, 2));
  await Bun.write(join(out, "failures.json"), JSON.stringify({ failures, faults }, null, 2));
  const table = tableOf(months);
  await Bun.write(join(out, "year.md"), `${table}\n`);
  for (const [at, chart] of chartsOf(months).entries()) {
    await Bun.write(join(out, `year-${at + 1}.svg`), drawChart(chart));
  }
  console.log(table);
}

if (import.meta.main) await main(Bun.argv.slice(2));
