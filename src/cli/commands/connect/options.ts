import type { Client } from "../../../connect/client.ts";
import { AGENTS_WITH_APPROVAL } from "../../../connect/tool-approval.ts";
import { CommandError, USAGE } from "../../command-error.ts";
import { WITH_HOOKS } from "./plan.ts";

/** Options of `ctxd connect`. */
export interface ConnectOptions {
  /** The address of a remote server. Default: the memory on this machine. */
  url?: URL;
  /** Whether to use an API key of that server instead of signing in. */
  key?: boolean;
  /** Whether hooks add memories to conversations; undefined leaves the hooks as they are. */
  recall?: boolean;
  /** Whether hooks save the turns of conversations; undefined leaves the hooks as they are. */
  capture?: boolean;
  /** Whether the agent may use the tools without asking each time. */
  allow?: boolean;
  remove?: boolean;
  print?: boolean;
  yes?: boolean;
}

/** @throws CommandError for options that can't be combined */
export function checkOptions(
  clients: readonly Client[],
  { url, key, recall, capture, allow, remove, print: isPrint }: ConnectOptions,
) {
  const fail = (message: string) => {
    throw new CommandError(message, USAGE);
  };
  if (key && !url) fail("--key needs --url: on this machine no key is needed.");
  if (remove && (url || recall || capture || allow || isPrint)) {
    fail("--remove can only be combined with --yes.");
  }
  if ((recall || capture) && url) {
    fail(
      "--recall and --capture use the memory on this machine: they can't be combined with --url.",
    );
  }
  const isFor = (ids: readonly string[]) => clients.some(({ id }) => ids.includes(id));
  if ((recall || capture) && !isFor(WITH_HOOKS)) {
    fail(`--recall and --capture need an agent with hooks: ${WITH_HOOKS.join(", ")}.`);
  }
  if (allow && !isFor(AGENTS_WITH_APPROVAL))
    fail(`--allow works with ${AGENTS_WITH_APPROVAL.join(", ")}.`);
}
