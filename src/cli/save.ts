import type { Static } from "@sinclair/typebox";
import { projectOfFolder } from "../capture/project.ts";
import type { Config } from "../config.ts";
import { titleOf } from "../mcp/memory-text.ts";
import type { SavedMemory } from "../memories/memory.ts";
import { type Api, openApi, type Target } from "./api.ts";
import type { Environment } from "./failure.ts";
import { inputText } from "./input-text.ts";
import { print, say } from "./terminal.ts";

/** What `ctxd save` is given beside the text. */
export interface SaveOptions extends Target {
  /** By default that of the folder; false for none. */
  project?: string | false;
  tag?: readonly string[];
  importance?: number;
  pin?: boolean;
  expires?: Date;
  supersedes?: string;
  json?: boolean;
}

type Saved = Static<typeof SavedMemory>;

/** Memories that are told at the most as being like the one that was saved. */
const SIMILAR = 3;

/** `ctxd save` */
export async function save(
  config: Config,
  words: readonly string[],
  options: SaveOptions,
  env: Environment,
): Promise<void> {
  const content = await inputText(words, "There is nothing to save: give a text.", options);
  const { project: wanted, importance, expires, supersedes } = options;
  const project = wanted === undefined ? projectOfFolder(process.cwd()) : wanted || null;
  using api = await openApi(config, env, options);
  const response = await api.request("/api/memories?similar=true", {
    method: "POST",
    // The request may be sent again when the server ends before it has answered.
    headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
    body: JSON.stringify({
      content,
      ...(project !== null && { project }),
      ...(options.tag && { tags: options.tag }),
      ...(importance !== undefined && { importance }),
      ...(options.pin && { pinned: true }),
      ...(expires && { expires_at: expires.toISOString() }),
      ...(supersedes !== undefined && { supersedes }),
    }),
  });
  const saved = (await response.json()) as Saved;
  await print(options.json ? JSON.stringify(saved, null, 2) : saved.id);
  if (options.json) return;
  const where = saved.project === null ? "" : ` in the project ${saved.project}`;
  for (const { message } of saved.warnings ?? []) say(`Careful: ${message}`);
  say(response.status === 201 ? `Saved${where}.` : `It was known already${where}.`);
  await tellSimilar(api, saved);
}

/** Says what is known that the new memory may repeat, or take the place of. */
async function tellSimilar(api: Api, { id, supersedes, similar = [] }: Saved) {
  const others = similar.filter((one) => one.id !== supersedes).slice(0, SIMILAR);
  for (const other of others) {
    const response = await api.request(`/api/memories/${other.id}`);
    const { content } = (await response.json()) as Saved;
    const how = other.kind === "changed" ? "May be outdated" : "Much alike";
    say(`${how}: ${other.id} (${titleOf(content)})`);
  }
  if (others.length === 0) return;
  say(
    `ctxd forget removes what is not needed. To keep what was true as history, forget ${id} and save it with --supersedes.`,
  );
}
