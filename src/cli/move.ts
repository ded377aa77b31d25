import type { Config } from "../config.ts";
import { openApi } from "./api.ts";
import { CommandError, type Environment, USAGE } from "./failure.ts";
import { readSelection, type SelectionOptions, settleSelection } from "./selection.ts";
import { print, say } from "./terminal.ts";

/** What `ctxd move` is given beside ids or words. */
export interface MoveOptions extends SelectionOptions {
  /** The project that they belong to from then on. */
  to?: string;
  /** Whether that is none. */
  toNone?: boolean;
  json?: boolean;
}

/** `ctxd move` */
export async function move(
  config: Config,
  what: readonly string[],
  options: MoveOptions,
  env: Environment,
): Promise<void> {
  const { to, toNone } = options;
  if ((to === undefined) === !toNone) {
    throw new CommandError("Say where to: --to PROJECT, or --to-none.", USAGE);
  }
  const project = to ?? null;
  const where = project === null ? "no project" : `the project ${project}`;
  const selection = await readSelection(what, options, "move");
  using api = await openApi(config, env, options);
  const question = (memories: string) => `Move ${memories} to ${where}?`;
  const settled = await settleSelection(api, selection, { ...options, question });
  const send = async (path: string, method: string) =>
    api.request(`/api/memories${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ project }),
    });
  let moved = 0;
  if ("filter" in settled) {
    const response = await send(`/move?${settled.filter}`, "POST");
    ({ moved } = (await response.json()) as { moved: number });
  } else {
    for (const id of settled.ids) {
      await send(`/${id}`, "PUT");
      moved++;
    }
  }
  if (options.json) await print(JSON.stringify({ moved }));
  else say(`Moved to ${where}: ${moved === 1 ? "1 memory" : `${moved} memories`}.`);
}
