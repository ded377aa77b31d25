import { type Command, Option } from "commander";

/** Runs the same command again in the background, where it has time to start a server. */
export const LATER = new Option("--later").hideHelp();

/** A plugin installs its hooks for everyone and passes its settings as environment variables. */
export const IF = new Option(
  "--if <variable>",
  "do nothing unless this environment variable is true",
);

/**
 * Lets a hook's command accept unknown options. An agent takes an error for a refusal, and its settings may
 * have been written by another version of ctxd.
 */
export function acceptAnything(command: Command): Command {
  return command.allowUnknownOption().allowExcessArguments();
}
