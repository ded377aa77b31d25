import { isWellFormed } from "../keys/key-format.ts";
import { CommandError } from "./command-error.ts";
import { askHidden, isInteractive, readLine } from "./terminal.ts";

/**
 * Asks for an API key, or reads it as one line of standard input.
 * @throws CommandError for a key that is malformed
 */
export async function askForKey(): Promise<string> {
  const key = (isInteractive() ? await askHidden("API key: ") : await readLine()).trim();
  if (isWellFormed(key)) return key;
  throw new CommandError(
    "This is not an API key of ctxd: a part of it may be missing or mistyped.",
  );
}
