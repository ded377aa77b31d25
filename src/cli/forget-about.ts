import { accessSync, constants, existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { messageOf } from "../errors.ts";
import {
  type AboutMemory,
  FOUND_HEADINGS,
  type FoundAbout,
  type FoundBy,
  type Receipt,
  receiptText,
  STAYS_ELSEWHERE,
} from "../memories/model/forgetting.ts";
import { memoryCount } from "../text/number-text.ts";
import { firstLineOf, formatDate } from "../text/short-text.ts";
import type { Environment } from "./context.ts";
import { filterOf, type SelectionOptions } from "./selection.ts";
import { openApi } from "./server/api.ts";
import {
  ask,
  CommandError,
  confirm,
  isInteractive,
  printJson,
  say,
  usageError,
  write,
} from "./terminal.ts";

interface AboutOptions extends SelectionOptions {
  about: string;
  /** File for the receipt. */
  receipt?: string;
  wait?: boolean;
  withName?: boolean;
  json?: boolean;
}

/**
 * Deletes what is about a person or a subject, and prints a receipt. Without another choice these are the memories whose
 * text names it.
 * @throws CommandError when the person declines, and when the receipt can't be written
 */
export async function forgetAbout(
  config: Config,
  env: Environment,
  what: readonly string[],
  options: AboutOptions,
): Promise<void> {
  const { about, receipt: file, yes = false } = options;
  if (what.length > 0 || filterOf(options).size > 0) {
    throw usageError("Use --about, or what else selects memories, not both.");
  }
  if (!yes && !isInteractive()) throw usageError("Without a terminal this needs --yes.");
  if (file !== undefined) checkReceiptFile(file);
  using api = await openApi(config, env, options);
  const found = await api.json<FoundAbout>(
    `/api/memories/about?${new URLSearchParams({ q: about })}`,
  );
  const { memories } = found;
  if (memories.length === 0) throw new CommandError("No memory is about that.");
  show(found);
  const chosen = yes ? named(memories) : await choose(memories);
  if (chosen.length === 0) throw new CommandError("Nothing was changed.");
  if (!yes && !(await confirm(`Delete ${memoryCount(chosen.length)} permanently?`))) {
    throw new CommandError("Nothing was changed.");
  }
  if (options.wait) say("Waiting until the data has left the server's files …");
  const body = { ids: chosen.map(({ id }) => id), ...(options.withName && { about }) };
  const receipt = await api.change<Receipt>(`/api/memories/forget?wait=${options.wait ?? false}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  // The repeated request has found nothing to delete: its receipt would be wrong.
  if (receipt === null) {
    throw new CommandError(
      "They are deleted, but the server's answer was lost: there is no receipt.",
    );
  }
  const text = options.json ? `${JSON.stringify(receipt, null, 2)}\n` : receiptText(receipt);
  if (file !== undefined) await save(file, text);
  else if (options.json) await printJson(receipt);
  else await write(text);
  say(`Deleted: ${memoryCount(receipt.deleted)}.`);
  if (found.more > 0) say(`There are ${memoryCount(found.more)} more: run this again.`);
}

/** Checks the file of a receipt before anything is deleted: afterwards nothing else tells of it. */
function checkReceiptFile(file: string): void {
  if (existsSync(file)) throw usageError(`${file} exists already.`);
  try {
    // With a slash at its end it must be a folder.
    accessSync(join(dirname(resolve(file)), "/"), constants.W_OK);
  } catch (error) {
    throw usageError(`The receipt can't be written to ${file}: ${messageOf(error)}`);
  }
}

function named(memories: readonly AboutMemory[]): AboutMemory[] {
  return memories.filter(({ found_by }) => found_by === "text");
}

/** Shows all memories with numbers, and what would stay. */
function show({ memories, more, sessions, spaces }: FoundAbout): void {
  let last: FoundBy | null = null;
  for (const [index, memory] of memories.entries()) {
    if (memory.found_by !== last) {
      const count = memories.filter(({ found_by }) => found_by === memory.found_by).length;
      say(`\n${FOUND_HEADINGS[memory.found_by]} (${count})`);
    }
    last = memory.found_by;
    const kind = memory.captured ? " · captured" : "";
    const age = memory.superseded ? " · superseded" : "";
    say(
      `${index + 1}. ${formatDate(memory.created_at)}${kind}${age} · ${firstLineOf(memory.excerpt)}`,
    );
  }
  if (more > 0) say(`… and ${more.toLocaleString("en")} more`);
  say("\nWhat stays:");
  const others = sessions.reduce((sum, session) => sum + session.others, 0);
  if (others > 0) say(`- ${memoryCount(others)} of the same sessions`);
  for (const { space, memories: count } of spaces)
    say(`- ${memoryCount(count)} in the space ${space}`);
  for (const each of STAYS_ELSEWHERE) say(`- ${each}`);
  say("");
}

/** Asks which of the memories are meant: by default those that name the subject. */
async function choose(memories: readonly AboutMemory[]): Promise<AboutMemory[]> {
  const count = named(memories).length;
  const standard = count === 0 ? "nothing for none" : `nothing for 1-${count}`;
  const answer = await ask(`Which? (numbers, such as 1-3 5; ${standard}) `);
  const parts = answer.split(/[\s,]+/).filter((part) => part !== "");
  if (parts.length === 0) return named(memories);
  const chosen = new Set<AboutMemory>();
  for (const part of parts) {
    const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? [];
    const range = memories.slice(Math.max(0, Number(from) - 1), Number(to));
    if (
      from === undefined ||
      Number(from) < 1 ||
      Number(to) > memories.length ||
      range.length === 0
    ) {
      throw new CommandError(`“${part}” is not one of the numbers: nothing was changed.`);
    }
    for (const memory of range) chosen.add(memory);
  }
  return [...chosen];
}

async function save(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600, flag: "wx" });
    say(`The receipt is in ${file}.`);
  } catch (error) {
    await write(text);
    throw new CommandError(
      `The memories are deleted. The receipt, printed above, can't be written to the file: ${messageOf(error)}`,
    );
  }
}
