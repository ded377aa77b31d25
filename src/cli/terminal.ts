import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandError } from "./command-error.ts";
import { printable, UNPRINTABLE } from "./printable.ts";

/** Whether standard input is a terminal, where a person can answer questions. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true;
}

/**
 * Writes a command's result to standard output.
 * @throws CommandError when the write fails: the reader has closed the pipe, or the disk is full
 */
export function print(text: string): Promise<void> {
  return write(`${text}\n`);
}

/** Writes a command's result as JSON. Characters that a terminal may obey are escaped. */
export function printJson(value: unknown): Promise<void> {
  const escaped = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return print(JSON.stringify(value, null, 2).replaceAll(UNPRINTABLE, escaped));
}

/**
 * Writes data to standard output as it is; resolves when the reader has room for more.
 * @throws CommandError as `print` does
 */
export function write(data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (error) => {
      if (!error) return resolve();
      reject(new CommandError(`Standard output can't be written (${error.message}).`));
    });
  });
}

/** Writes a message to standard error, apart from the command's result. */
export function say(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** Asks a yes-or-no question. Any answer but `y` or `yes` counts as no. */
export async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());
}

/** Asks for a secret, which is not shown while it is typed. */
export async function askHidden(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    return await ask(question, nowhere);
  } finally {
    process.stderr.write("\n");
  }
}

/** Asks for a secret, or reads it as one line of standard input. */
export function readSecret(question: string): Promise<string> {
  return isInteractive() ? askHidden(question) : readLine();
}

/** The first line of standard input, without its line break. */
export function readLine(): Promise<string> {
  return nextLine(createInterface({ input: process.stdin }), "Standard input is empty.");
}

/** Asks for a line of text. @param echo the stream that shows the line while it is typed */
export function ask(
  question: string,
  echo: NodeJS.WritableStream = process.stderr,
): Promise<string> {
  // Created before the question is written, because this stops the terminal's own echo.
  const lines = createInterface({ input: process.stdin, output: echo, terminal: true, prompt: "" });
  process.stderr.write(question);
  // In raw mode Ctrl-C arrives as a character.
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

/** Formats rows under a heading, in columns two spaces apart. Wide characters count as two. */
export function formatTable(heading: readonly string[], rows: readonly (readonly string[])[]) {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ""))),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Formats a time for a table, to the minute; a dash for null. */
export function formatMoment(moment: Date | null): string {
  return moment === null ? "-" : `${moment.toISOString().slice(0, 16).replace("T", " ")}Z`;
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));
}
