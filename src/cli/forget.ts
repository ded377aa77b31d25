import type { Config } from "../config.ts";
import { formatDate, titleOf } from "../mcp/entry.ts";
import { LIMITS, MEMORY_ID, type Memory } from "../memories/memory.ts";
import { type Api, openApi, type Target } from "./api.ts";
import { CommandError, type Environment, USAGE } from "./failure.ts";
import { ask, confirm, isInteractive, print, say } from "./terminal.ts";

/** What `ctxd forget` is given beside ids or words. */
export interface ForgetOptions extends Target {
  project?: string;
  tag?: readonly string[];
  agent?: string;
  session?: string;
  source?: string;
  captured?: boolean;
  before?: string;
  /** Whether with a memory goes what it superseded, and what superseded it. */
  history?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** Memories that are shown before all that pass a filter are deleted, and to choose from. */
const SHOWN = 5;
const CHOICES = 10;

/** `ctxd forget` */
export async function forget(
  config: Config,
  what: readonly string[],
  options: ForgetOptions,
  env: Environment,
): Promise<void> {
  const filter = filterOf(options);
  const isById = what.length > 0 && what.every((each) => MEMORY_ID.test(each));
  checkUse(what, { filter, isById, options });
  const api = await openApi(config, env, options);
  try {
    const deleted =
      what.length === 0
        ? await forgetMatching(api, filter, options)
        : await forgetEach(api, isById ? what : await choose(api, what.join(" ")), options);
    if (options.json) await print(JSON.stringify({ deleted }));
    else say(deleted === 1 ? "Forgotten: 1 memory." : `Forgotten: ${deleted} memories.`);
  } finally {
    api.close();
  }
}

/** @throws CommandError for what can't be meant */
function checkUse(
  what: readonly string[],
  { filter, isById, options }: { filter: URLSearchParams; isById: boolean; options: ForgetOptions },
): void {
  const fail = (message: string) => {
    throw new CommandError(message, USAGE);
  };
  if (what.length === 0 && filter.size === 0) {
    fail("Say what to forget: ids, words, or an option such as --tag.");
  }
  if (what.length > 0 && filter.size > 0) {
    fail("Ids and words don't go with options that name many.");
  }
  if (options.history && !isById) fail("--history goes with ids.");
  if (what.length > 0 && !isById && !isInteractive()) {
    fail("Words are for a terminal, where you choose from what is found: give ids here.");
  }
  if (!options.yes && !isInteractive()) fail("This needs --yes when nobody can be asked.");
}

function filterOf(options: ForgetOptions): URLSearchParams {
  const { project, tag, agent, session, source, captured, before } = options;
  return new URLSearchParams({
    // Alone: what belongs to no project is of use to all of them.
    ...(project !== undefined && { project, project_only: "true" }),
    ...(tag && { tags: tag.join(",") }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(session !== undefined && { session_id: session }),
    ...(source !== undefined && { source }),
    ...(captured && { captured: "true" }),
    ...(before !== undefined && { created_before: before }),
  });
}

async function forgetMatching(
  api: Api,
  filter: URLSearchParams,
  { yes }: ForgetOptions,
): Promise<number> {
  if (!yes) {
    const query = new URLSearchParams({
      ...Object.fromEntries(filter),
      include_superseded: "true",
      limit: String(LIMITS.page),
    });
    const page = await get<{ memories: Memory[]; next_cursor: string | null }>(api, `?${query}`);
    const { length } = page.memories;
    if (length === 0) return 0;
    for (const memory of page.memories.slice(0, SHOWN)) say(lineOf(memory));
    if (length > SHOWN) say("…");
    const count = page.next_cursor === null ? length : `more than ${length}`;
    await requireConsent(
      `Forget ${count === 1 ? "this memory" : `these ${count} memories`} for good?`,
    );
  }
  const response = await api.request(`/api/memories?${filter}`, { method: "DELETE" });
  return ((await response.json()) as { deleted: number }).deleted;
}

async function forgetEach(
  api: Api,
  ids: readonly string[],
  { yes, history }: ForgetOptions,
): Promise<number> {
  // All are looked for first: a mistyped one keeps the others.
  const memories = await Promise.all(ids.map((id) => get<Memory>(api, `/${id}`)));
  if (!yes) {
    for (const memory of memories) say(lineOf(memory));
    await requireConsent(`Forget ${ids.length === 1 ? "it" : "them"} for good?`);
  }
  for (const id of new Set(ids)) {
    await api.request(`/api/memories/${id}?history=${history ?? false}`, { method: "DELETE" });
  }
  return new Set(ids).size;
}

/** Lets a person choose from what is found. */
async function choose(api: Api, words: string): Promise<string[]> {
  const query = new URLSearchParams({ q: words, limit: String(CHOICES) });
  const { memories } = await get<{ memories: Memory[] }>(api, `/search?${query}`);
  if (memories.length === 0) throw new CommandError("Nothing like that is known.");
  for (const [index, memory] of memories.entries()) say(`${index + 1}. ${lineOf(memory)}`);
  const answer = await ask("Which? (numbers, such as 1 3; nothing for none) ");
  const chosen = answer.split(/[\s,]+/).filter((part) => part !== "");
  const ids = chosen.map((part) => memories[Number(part) - 1]?.id);
  if (chosen.length === 0) throw new CommandError("Nothing was forgotten.");
  if (ids.every((id) => id !== undefined)) return ids;
  throw new CommandError("That is none of the numbers: nothing was forgotten.");
}

async function get<Body>(api: Api, path: string): Promise<Body> {
  return (await (await api.request(`/api/memories${path}`)).json()) as Body;
}

async function requireConsent(question: string): Promise<void> {
  if (!(await confirm(question))) throw new CommandError("Nothing was forgotten.");
}

function lineOf({ id, content, created_at }: Memory): string {
  return `${id} · ${formatDate(created_at)} · ${titleOf(content)}`;
}
