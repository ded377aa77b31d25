import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { type Context, type Environment, examples } from "../context.ts";
import {
  addSelection,
  confirmSelection,
  describeCount,
  type MemoryPage,
  readSelection,
  type SelectionOptions,
} from "../selection.ts";
import { type Api, openApi } from "../server/api.ts";
import { print, say, usageError } from "../terminal.ts";

interface ForgetOptions extends SelectionOptions {
  /** Whether to delete a memory's history too: what it superseded, and what superseded it. */
  history?: boolean;
  json?: boolean;
  /** The person or subject, about which everything is deleted. */
  about?: string;
  receipt?: string;
  wait?: boolean;
  withName?: boolean;
}

export function define(program: Command, { configureExisting, env }: Context): void {
  const command = program
    .command("forget")
    .summary("delete memories permanently")
    .description(
      "Deletes memories permanently: by id, chosen from the results of a search, or all that the options select, such as all about a person. Shows the memories first and asks for confirmation.",
    );
  addSelection(command)
    .option(
      "--history",
      "with ids or words: also the memories that they superseded, and that superseded them",
    )
    .option("--about <name>", "all about a person or a subject; prints a receipt")
    .option("--receipt <file>", "with --about: write the receipt to a file")
    .option(
      "--wait",
      "with --about: wait until the data has left the server's files, for the receipt",
    )
    .option("--with-name", "with --about: the receipt says what was searched for")
    .option("--json", "print how many were deleted, as JSON")
    .addHelpText(
      "after",
      examples(
        "ctxd forget mem_0197f2c4e0b47c3a9a1d5b8e2f60c711",
        "ctxd forget the old staging server",
        'ctxd forget --about "Anna" --wait --receipt receipt.txt',
        "ctxd forget --captured --session s-42",
        "ctxd forget --project acme/atlas --before 2026-01-01 --yes",
      ),
    )
    .action((what: string[], options: ForgetOptions) =>
      forget(configureExisting(options), what, options, env),
    );
}

async function forget(config: Config, what: string[], options: ForgetOptions, env: Environment) {
  if (options.about !== undefined) {
    const { forgetAbout } = await import("../forget-about.ts");
    return await forgetAbout(config, env, what, { ...options, about: options.about });
  }
  if (options.receipt !== undefined || options.wait || options.withName) {
    throw usageError("--receipt, --wait and --with-name need --about.");
  }
  const selection = await readSelection(what, options, "forget");
  if (options.history && selection.kind === "filter") {
    throw usageError("--history needs ids or words.");
  }
  using api = await openApi(config, env, options);
  const question = (memories: string) => `Delete ${memories} permanently?`;
  const confirmed = await confirmSelection(api, selection, { ...options, question });
  const deleted =
    "filter" in confirmed
      ? await deleteMatching(api, confirmed.filter)
      : await deleteByIds(api, confirmed.ids, options.history ?? false);
  if (options.json) await print(JSON.stringify({ deleted }));
  else say(`Deleted: ${describeCount(deleted)}.`);
}

/** Deletes the memories that a filter selects. @returns their number; null if it is unknown */
async function deleteMatching(api: Api, filter: URLSearchParams): Promise<number | null> {
  const path = `/api/memories?${filter}`;
  const answer = await api.change<{ deleted: number }>(path, { method: "DELETE" });
  return answer?.deleted ?? null;
}

/** Deletes memories one by one. @returns how many of the ids were deleted by a request of their own */
async function deleteByIds(api: Api, ids: readonly string[], history: boolean): Promise<number> {
  const deletedWithHistory = new Set<string>();
  let deleted = 0;
  for (const id of ids) {
    if (deletedWithHistory.has(id)) continue;
    if (history && ids.length > 1) {
      for (const each of await historyOf(api, id)) deletedWithHistory.add(each);
    }
    await api.change(`/api/memories/${id}?history=${history}`, { method: "DELETE" });
    deleted++;
  }
  return deleted;
}

async function historyOf(api: Api, id: string): Promise<string[]> {
  const ids: string[] = [];
  for (let query = ""; ; ) {
    const page = await api.json<MemoryPage>(`/api/memories/${id}/history${query}`);
    ids.push(...page.memories.map((memory) => memory.id));
    if (page.next_cursor === null) return ids;
    query = `?cursor=${page.next_cursor}`;
  }
}
