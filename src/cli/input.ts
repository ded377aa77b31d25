import { isWellFormed } from "../keys/new-key.ts";
import type { Target } from "./server/api.ts";
import { CommandError, isInteractive, readSecret, usageError } from "./terminal.ts";

/**
 * Reads the text of a command: its arguments, or standard input for `-` and for no argument.
 * @param missing the error message when there is no text
 * @throws CommandError
 */
export async function inputText(
  words: readonly string[],
  missing: string,
  { url }: Target,
): Promise<string> {
  const isPiped = words.length === 0 || (words.length === 1 && words[0] === "-");
  if (!isPiped) return words.join(" ");
  if (words.length === 0 && isInteractive()) throw usageError(missing);
  if (url && !isInteractive()) {
    throw usageError("Standard input is the API key: give the text as an argument.");
  }
  const text = decode(await Bun.stdin.bytes());
  // Programs that write to a pipe end their text with a line break.
  const trimmed = text.replace(/^(\s*\n)+/, "").trimEnd();
  if (trimmed === "") throw usageError(missing);
  return trimmed;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usageError("Standard input is not text in UTF-8.");
  }
}

/**
 * Asks for an API key, or reads it as one line of standard input.
 * @throws CommandError for a key that is malformed
 */
export async function askForKey(): Promise<string> {
  const key = (await readSecret("API key: ")).trim();
  if (isWellFormed(key)) return key;
  throw new CommandError(
    "This is not an API key of ctxd: a part of it may be missing or mistyped.",
  );
}
