import { isWellFormed } from "../keys/key-format.ts";
import { CommandError } from "./command-error.ts";
import { askHidden, isInteractive, readLine } from "./terminal.ts";

/**
 * An API key, asked for or read as one line of standard input.
 * @throws CommandError for what can't be one
 */
export async function askForKey(): Promise<string> {
  const key = (isInteractive() ? await askHidden("API key: ") : await readLine()).trim();
  if (isWellFormed(key)) return key;
  throw new CommandError("This is no API key of ctxd, or a part of it is missing or mistyped.");
}
