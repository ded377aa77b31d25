import type { Config } from "../config.ts";
import { openSource, type SourceLine } from "../import/open-source.ts";
import { type ImportReport, LIMITS } from "../memories/memory.ts";
import { type Api, openApi, type Target } from "./api.ts";
import { CommandError, type Environment, USAGE } from "./failure.ts";
import { interruptible } from "./interruption.ts";
import { createMeter } from "./progress.ts";
import { isInteractive, say } from "./terminal.ts";

/** Bytes that are sent at once, at the most. */
const BATCH_BYTES = 1 << 20;
/** Places that are named. */
const NAMED = 20;

interface Totals {
  created: number;
  updated: number;
  unchanged: number;
  kept: number;
  /** What could not be imported, by place. */
  failed: { at: string; reason: string }[];
  /** What was left out of memories, and of how many. */
  notes: Map<string, number>;
}

/** `ctxd import FILE` */
export async function importFrom(
  config: Config,
  path: string,
  { dryRun = false, ...target }: Target & { dryRun?: boolean },
  env: Environment,
): Promise<void> {
  if (path === "-" && target.url && !isInteractive()) {
    throw new CommandError("Standard input has the key: give a file to import.", USAGE);
  }
  const source = await openSource(path);
  const api = await openApi(config, env, target);
  const meter = createMeter(dryRun ? "Reading" : "Importing");
  const totals: Totals = {
    created: 0,
    updated: 0,
    unchanged: 0,
    kept: 0,
    failed: [],
    notes: new Map(),
  };
  let isDone = false;
  try {
    await interruptible(async (signal) => {
      for await (const batch of inBatches(source.lines)) {
        await send(api, batch, totals, { dryRun, signal });
        const share = source.size ? source.bytesRead() / source.size : null;
        meter.show(countOf(totals), share && Math.min(1, share));
      }
    }, "Stopped.");
    isDone = true;
  } finally {
    meter.end();
    api.close();
    if (!isDone && countOf(totals) > 0 && !dryRun) {
      say(`${describe(totals, source.name)} The same command again goes on from there.`);
    }
  }
  for (const remark of source.remarks) say(`Left out: ${remark}.`);
  for (const [note, count] of totals.notes) say(`Of ${count}: ${note}.`);
  say(
    dryRun
      ? `Nothing was changed. ${describe(totals, source.name)}`
      : describe(totals, source.name),
  );
  reportFailed(totals);
}

/** Lines that are sent at once; what can't be is among them. */
async function* inBatches(lines: AsyncIterable<SourceLine>): AsyncGenerator<SourceLine[]> {
  let batch: SourceLine[] = [];
  let bytes = 0;
  for await (const line of lines) {
    batch.push(line);
    bytes += "line" in line ? line.line.length : 0;
    if (batch.length < LIMITS.batch && bytes < BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

async function send(
  api: Api,
  batch: readonly SourceLine[],
  totals: Totals,
  { dryRun, signal }: { dryRun: boolean; signal: AbortSignal },
): Promise<void> {
  signal.throwIfAborted();
  const good = batch.flatMap((line) => ("line" in line ? line : []));
  for (const one of batch) {
    if ("problem" in one) totals.failed.push({ at: one.at, reason: one.problem });
    else for (const note of one.notes) totals.notes.set(note, (totals.notes.get(note) ?? 0) + 1);
  }
  if (good.length === 0) return;
  const response = await api.request(`/api/memories/import?dry_run=${dryRun}`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: good.map(({ line }) => `${line}\n`).join(""),
    signal,
  });
  const report = (await response.json()) as ImportReport;
  totals.created += report.created;
  totals.updated += report.updated;
  totals.unchanged += report.unchanged;
  totals.kept += report.kept;
  for (const { line, outcome, reason } of report.skipped) {
    if (outcome === "invalid") totals.failed.push({ at: good[line - 1]?.at ?? "", reason });
  }
}

function countOf({ created, updated, unchanged, kept, failed }: Totals): number {
  return created + updated + unchanged + kept + failed.length;
}

function describe(totals: Totals, name: string): string {
  const { created, updated, unchanged, kept } = totals;
  const parts = [
    `${created} new`,
    ...(updated > 0 ? [`${updated} updated`] : []),
    ...(unchanged > 0 ? [`${unchanged} here already`] : []),
    ...(kept > 0 ? [`${kept} older than what is here, which stays`] : []),
  ];
  return `From ${name}: ${parts.join(", ")}.`;
}

function reportFailed({ failed }: Totals): void {
  if (failed.length === 0) return;
  for (const { at, reason } of failed.slice(0, NAMED)) say(`  ${at}: ${reason.replace(/\.$/, "")}`);
  if (failed.length > NAMED) say(`  … and ${failed.length - NAMED} more`);
  const what = failed.length === 1 ? "1 place" : `${failed.length} places`;
  throw new CommandError(`What is at ${what} can't be imported.`);
}
