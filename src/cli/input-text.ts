import type { Target } from "./api.ts";
import { CommandError, USAGE } from "./command-error.ts";
import { isInteractive } from "./terminal.ts";

/**
 * The text that a command is given: its words, or standard input for `-` and for none.
 * @param missing what is said where there is none: a sentence
 * @throws CommandError
 */
export async function inputText(
  words: readonly string[],
  missing: string,
  { url }: Target,
): Promise<string> {
  const isPiped = words.length === 0 || (words.length === 1 && words[0] === "-");
  if (!isPiped) return words.join(" ");
  if (words.length === 0 && isInteractive()) throw new CommandError(missing, USAGE);
  if (url && !isInteractive()) {
    throw new CommandError("Standard input has the key: give the text as an argument.", USAGE);
  }
  const text = decode(await Bun.stdin.bytes());
  // Line breaks around it are the pipe's.
  const trimmed = text.replace(/^(\s*\n)+/, "").trimEnd();
  if (trimmed === "") throw new CommandError(missing, USAGE);
  return trimmed;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new CommandError("Standard input is not text in UTF-8.", USAGE);
  }
}
