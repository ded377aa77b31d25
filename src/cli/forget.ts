import type { Config } from "../config.ts";
import { openApi } from "./api.ts";
import { CommandError, type Environment, USAGE } from "./failure.ts";
import { readSelection, type SelectionOptions, settleSelection } from "./selection.ts";
import { print, say } from "./terminal.ts";

/** What `ctxd forget` is given beside ids or words. */
export interface ForgetOptions extends SelectionOptions {
  /** Whether with a memory goes what it superseded, and what superseded it. */
  history?: boolean;
  json?: boolean;
}

/** `ctxd forget` */
export async function forget(
  config: Config,
  what: readonly string[],
  options: ForgetOptions,
  env: Environment,
): Promise<void> {
  const selection = await readSelection(what, options, "forget");
  if (options.history && selection.kind === "filter") {
    throw new CommandError("--history goes with ids and words.", USAGE);
  }
  const api = await openApi(config, env, options);
  try {
    const question = (memories: string) => `Forget ${memories} for good?`;
    const settled = await settleSelection(api, selection, { ...options, question });
    let deleted = 0;
    if ("filter" in settled) {
      const path = `/api/memories?${settled.filter}`;
      const response = await api.request(path, { method: "DELETE" });
      ({ deleted } = (await response.json()) as { deleted: number });
    } else {
      for (const id of settled.ids) {
        const path = `/api/memories/${id}?history=${options.history ?? false}`;
        await api.request(path, { method: "DELETE" });
        deleted++;
      }
    }
    if (options.json) await print(JSON.stringify({ deleted }));
    else say(deleted === 1 ? "Forgotten: 1 memory." : `Forgotten: ${deleted} memories.`);
  } finally {
    api.close();
  }
}
