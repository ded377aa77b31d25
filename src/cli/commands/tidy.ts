import { type Command, InvalidArgumentError } from "commander";
import type { Config } from "../../config/config.ts";
import { messageOf } from "../../errors.ts";
import { LIMITS } from "../../memories/model/memory.ts";
import type {
  TidyGroup,
  TidyKind,
  TidyOutcome,
  TidyReport,
} from "../../memories/rules/tidy/report.ts";
import { memoryCount } from "../../text/number-text.ts";
import { excerpt } from "../../text/short-text.ts";
import { outcomeText } from "../../tidy/outcome-text.ts";
import { type Context, type Environment, examples } from "../context.ts";
import { targetOptions } from "../options.ts";
import { type Api, openApi, type Target } from "../server/api.ts";
import {
  CommandError,
  confirm,
  isInteractive,
  print,
  printable,
  printJson,
  say,
  usageError,
} from "../terminal.ts";

interface TidyOptions extends Target {
  kind?: TidyKind;
  /** Kinds to apply; `true` for those that lose nothing. */
  apply?: readonly TidyKind[] | true;
  undo?: readonly string[];
  yes?: boolean;
  json?: boolean;
}

/** What there is of each kind. The file of the rules is not loaded for it: it takes long to load. */
const KINDS: Record<TidyKind, string> = {
  restatements: "groups that say the same",
  contradictions: "facts that a later memory changes",
  never_found: "not found in 180 days",
  expiring: "expire within 7 days",
  secrets: "contain secrets",
  revoked: "written by revoked keys and apps",
  small_projects: "alone in a project",
};
/** The kinds of `--apply` without any: what they supersede stays as history. */
const SAFE: readonly TidyKind[] = ["restatements", "contradictions"];

const NAMES = ["superseded", "deleted", "pinned", "expiring", "moved"] as const;

/** Groups that are applied at once: of so many changes each can still be undone after the last one. */
const MOST_AT_ONCE = 20 * LIMITS.page;

/** Groups shown of each kind, and characters of a memory. */
const MAX_SHOWN = 5;
const MAX_LENGTH = 100;

const isKind = (text: string): text is TidyKind => Object.hasOwn(KINDS, text);

function parseKind(text: string): TidyKind {
  if (isKind(text)) return text;
  throw new InvalidArgumentError(`Use one of ${Object.keys(KINDS).join(", ")}.`);
}

export function define(program: Command, { configureExisting, env }: Context): void {
  program
    .command("tidy")
    .summary("find memories that say the same, contradict each other, or are of no use")
    .description(
      "Lists what could be tidied, with a proposal for each group, and applies the proposals: memories that say the same or that a later one outdates become history of the one to keep.",
    )
    .option("--kind <kind>", `only one kind: ${Object.keys(KINDS).join(", ")}`, parseKind)
    .option(
      "--apply [kinds...]",
      "apply the proposals of these kinds (restatements and contradictions); asks first",
      (text: string, before: readonly TidyKind[] = []) => [...before, parseKind(text)],
    )
    .option("--undo <ids...>", "undo what was applied less than ten seconds ago")
    .option("-y, --yes", "do not ask for confirmation")
    .option("--json", "print the API's answer as JSON")
    .addOption(targetOptions.user())
    .addOption(targetOptions.space())
    .addOption(targetOptions.url())
    .addHelpText(
      "after",
      examples(
        "ctxd tidy",
        "ctxd tidy --kind contradictions",
        "ctxd tidy --apply restatements --yes",
      ),
    )
    .action((options: TidyOptions) => tidy(configureExisting(options), options, env));
}

async function tidy(config: Config, options: TidyOptions, env: Environment) {
  const { apply, undo, kind } = options;
  const isSeveral = [apply, undo, kind].filter((each) => each !== undefined).length > 1;
  if (isSeveral) throw usageError("Use --kind, --apply or --undo, not several of them.");
  if (apply && !options.yes && !isInteractive()) {
    throw usageError("Without a terminal --apply needs --yes.");
  }
  using api = await openApi(config, env, options);
  if (undo) return await undoChanges(api, undo);
  if (apply) return await applyKinds(api, apply === true ? SAFE : apply, options);
  await list(api, options);
}

async function list(api: Api, { kind, json }: TidyOptions) {
  const report = await read(api, kind);
  if (json) return await printJson(report);
  const shown = Object.entries(KINDS).flatMap(([name, what]) => {
    if (!isKind(name) || (kind !== undefined && kind !== name)) return [];
    const count = report.kinds[name];
    const unknown = name === "never_found" ? "not counted for so long" : "not known yet";
    return count === 0 ? [] : [`${name}: ${count ?? unknown} (${what})`];
  });
  if (report.compared !== null && report.compared < 1) {
    say(`${Math.floor(100 * report.compared)} % of the memories have been compared so far.`);
  }
  if (shown.length === 0) return say("There is nothing to tidy.");
  const groups = report.groups.map(describe);
  await print(printable([...shown, ...groups.map((group) => `\n${group}`)].join("\n")));
  if (report.next_cursor !== null) {
    const how =
      kind === undefined
        ? "--kind KIND lists those of one kind"
        : "they are listed once these are tidied";
    say(`There are more: ${how}.`);
  }
}

function read(api: Api, kind?: TidyKind, cursor: string | null = null): Promise<TidyReport> {
  const query = new URLSearchParams({
    limit: String(kind === undefined ? 20 : LIMITS.page),
    ...(kind && { kind }),
    ...(cursor !== null && { cursor }),
  });
  return api.json<TidyReport>(`/api/memories/tidy?${query}`);
}

function describe({ memories, proposal, reason, kind }: TidyGroup): string {
  const { action, keep, project } = proposal;
  const to = project === undefined ? "" : ` into ${project}`;
  const lines = memories.map(
    ({ id, content }) => `  ${id === keep ? "keep" : "    "} ${id} ${excerpt(content, MAX_LENGTH)}`,
  );
  return [`${kind}: ${reason} Proposal: ${action}${to}.`, ...lines].join("\n");
}

/** Asks about all kinds before it applies any, so that what is applied can be undone after the last answer. */
async function applyKinds(api: Api, kinds: readonly TidyKind[], { yes, json }: TidyOptions) {
  const chosen: TidyGroup[] = [];
  const taken = new Set<string>();
  let left = 0;
  for (const kind of kinds) {
    // A memory in groups of two kinds is changed once.
    const free = (await readAll(api, kind)).filter(
      ({ memories }) => !memories.some(({ id }) => taken.has(id)),
    );
    const usual = free.filter(isUsual);
    if (usual.length < free.length) {
      const count = free.length - usual.length;
      const stay = count === 1 ? "stays" : "stay";
      say(`${memoryCount(count)} of ${kind} ${stay}: no other project is near.`);
    }
    const groups = usual.slice(0, MOST_AT_ONCE - chosen.length);
    left += usual.length - groups.length;
    if (!yes && groups.length > 0) await requireConsent(kind, groups);
    for (const { id } of groups.flatMap(({ memories }) => memories)) taken.add(id);
    chosen.push(...groups);
  }
  const total = { superseded: 0, deleted: 0, pinned: 0, expiring: 0, moved: 0 };
  const undo: string[] = [];
  for (const outcome of await applyAll(api, chosen)) {
    if (outcome.undo !== null) undo.push(outcome.undo);
    for (const name of NAMES) total[name] += outcome[name];
  }
  if (json) return await printJson({ ...total, undo, left });
  const what = outcomeText(total);
  if (what === "") return say("There was nothing to apply.");
  say(`In ten seconds: ${what}. To undo it before then: ctxd tidy --undo ${undo.join(" ")}`);
  if (left > 0) say(`${left.toLocaleString("en")} proposals are left. Then run this again.`);
}

/** Whether a proposal is the usual one of its kind. A memory without a project to move to stays. */
function isUsual({ kind, proposal }: TidyGroup): boolean {
  return kind !== "small_projects" || proposal.action === "merge";
}

async function requireConsent(kind: TidyKind, groups: readonly TidyGroup[]): Promise<void> {
  say(printable(groups.slice(0, MAX_SHOWN).map(describe).join("\n")));
  if (groups.length > MAX_SHOWN) say("…");
  const what = groups.length === 1 ? "1 proposal" : `${groups.length} proposals`;
  if (!(await confirm(`Apply ${what} of ${kind}?`))) throw new CommandError("Nothing was changed.");
}

async function applyAll(api: Api, groups: readonly TidyGroup[]): Promise<TidyOutcome[]> {
  const outcomes: TidyOutcome[] = [];
  for (let at = 0; at < groups.length; at += LIMITS.page) {
    const part = groups.slice(at, at + LIMITS.page).map(({ id }) => ({ id }));
    const outcome = await api.json<TidyOutcome>("/api/memories/tidy", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ groups: part }),
    });
    outcomes.push(outcome);
  }
  return outcomes;
}

async function readAll(api: Api, kind: TidyKind): Promise<TidyGroup[]> {
  const groups: TidyGroup[] = [];
  let cursor: string | null = null;
  do {
    const report: TidyReport = await read(api, kind, cursor);
    groups.push(...report.groups);
    cursor = report.next_cursor;
  } while (cursor !== null);
  return groups;
}

async function undoChanges(api: Api, ids: readonly string[]) {
  const failed: string[] = [];
  for (const id of ids) {
    try {
      await api.json(`/api/memories/tidy?undo=${encodeURIComponent(id)}`, { method: "DELETE" });
    } catch (error) {
      failed.push(`${id}: ${messageOf(error)}`);
    }
  }
  if (failed.length > 0) throw new CommandError(failed.join("\n"));
  say("Undone. Your memories are as before.");
}
