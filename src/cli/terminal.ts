import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandError } from "./command-error.ts";
import { printable } from "./printable.ts";

/** Whether a person can be asked. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true;
}

/**
 * Writes the answer of a command to standard output.
 * @throws CommandError when it did not get there: the reader has left, the disk is full
 */
export function print(text: string): Promise<void> {
  return write(`${text}\n`);
}

/**
 * Writes to standard output just what it is given; resolves when the reader has room for more.
 * @throws CommandError as `print`
 */
export function write(data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (error) => {
      if (!error) return resolve();
      reject(new CommandError(`Standard output can't be written (${error.message}).`));
    });
  });
}

/** Says something beside the answer, on standard error. */
export function say(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** Asks a yes-or-no question; anything but yes is no. */
export async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());
}

/** Asks for a text that does not appear while it is typed. */
export async function askHidden(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    return await ask(question, nowhere);
  } finally {
    process.stderr.write("\n");
  }
}

/** The first line of standard input, without its line break. */
export function readLine(): Promise<string> {
  return nextLine(createInterface({ input: process.stdin }), "Standard input is empty.");
}

/** Asks for a line. @param echo where it appears while it is typed */
export function ask(
  question: string,
  echo: NodeJS.WritableStream = process.stderr,
): Promise<string> {
  // Before the question, because this is what stops the terminal's own echo.
  const lines = createInterface({ input: process.stdin, output: echo, terminal: true, prompt: "" });
  process.stderr.write(question);
  // In raw mode Ctrl-C is a character like others.
  lines.once("SIGINT", () => lines.close());
  return nextLine(lines, "Cancelled.");
}

function nextLine(lines: ReturnType<typeof createInterface>, otherwise: string): Promise<string> {
  return new Promise((resolve, reject) => {
    lines.once("line", (line) => {
      resolve(line);
      lines.close();
    });
    lines.once("close", () => reject(new CommandError(otherwise)));
  });
}
