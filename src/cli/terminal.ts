import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { ConfigError } from "../config/settings.ts";
import { AppError, CtxdError } from "../errors.ts";
import { STOP_SIGNALS } from "../system/processes.ts";
import type { Environment } from "./context.ts";

/** Control characters, and marks that turn the direction of writing. They change what a terminal shows. */
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** Makes a text safe for a terminal, as one from a remote server or a file's name may not be. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, "\uFFFD");
}

/** Exit codes of every command; 0 is done. */
const FAILED = 1;
export const USAGE = 2;

/** A command failed. `message` is the line that the user sees. */
export class CommandError extends CtxdError {
  readonly code = "command_failed";
  readonly exitCode: number;

  constructor(message: string, exitCode: typeof FAILED | typeof USAGE = FAILED) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The error for a command that is used wrongly. */
export function usageError(message: string): CommandError {
  return new CommandError(message, USAGE);
}

/**
 * Prints in one line on standard error why a command failed, and returns the exit code. For an unexpected
 * error, CTXD_LOG_LEVEL=debug prints the stack too.
 */
export function reportFailure(error: unknown, env: Environment): number {
  const { text, exitCode } = describeFailure(error, env.CTXD_LOG_LEVEL === "debug");
  process.stderr.write(`ctxd: ${printable(text)}\n`);
  return exitCode;
}

function describeFailure(error: unknown, debug: boolean): { text: string; exitCode: number } {
  if (!(error instanceof Error)) return { text: `unexpected error: ${error}`, exitCode: FAILED };
  if (error instanceof CommandError) return { text: error.message, exitCode: error.exitCode };
  if (error instanceof ConfigError) return { text: error.message, exitCode: USAGE };
  if (error instanceof AppError) {
    return { text: error.message, exitCode: error.code === "validation_failed" ? USAGE : FAILED };
  }
  if (error instanceof CtxdError) return { text: error.message, exitCode: FAILED };
  const line = error.message.replaceAll(/\s+/g, " ");
  const hint = debug ? `\n${error.stack}` : " (CTXD_LOG_LEVEL=debug shows where)";
  return { text: `unexpected error: ${line}${hint}`, exitCode: FAILED };
}

/** Runs a job. Ctrl-C and SIGTERM abort its signal, so that it can clean up before it ends. */
export async function interruptible<T>(
  job: (signal: AbortSignal) => Promise<T>,
  message = "Stopped: nothing was written.",
): Promise<T> {
  const controller = new AbortController();
  const stop = () => controller.abort(new CommandError(message));
  for (const name of STOP_SIGNALS) process.once(name, stop);
  try {
    return await job(controller.signal);
  } finally {
    for (const name of STOP_SIGNALS) process.off(name, stop);
  }
}

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
  return nextLine(
    createInterface({ input: process.stdin }),
    "Nothing came from standard input: give the password, passphrase or key there, as one line.",
  );
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

/** Prints rows under a heading, in columns two spaces apart. Wide characters count as two. */
export function printTable(heading: readonly string[], rows: readonly (readonly string[])[]) {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ""))),
  );
  const padded = (cell: string, column: number) =>
    cell + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
  return print(lines.map((line) => line.map(padded).join("  ").trimEnd()).join("\n"));
}

/** Formats a time for a table, to the minute; a dash for null. */
export function formatMoment(moment: Date | null): string {
  return moment === null ? "-" : `${moment.toISOString().slice(0, 16).replace("T", " ")}Z`;
}

/** Commander's sentences, and ours in their place. `$1` and so on are the parts in parentheses. */
const SENTENCES: readonly (readonly [theirs: RegExp, ours: string])[] = [
  [/^command-argument value ('[^\n]*') is invalid for argument '(\w+)'\. ?/, "$1 is no $2. "],
  [
    /^option '(?:-\w, )?(--[\w-]{1,40})(?: [^']{0,60})?' argument ('[^\n]*') is invalid\. /,
    "$1 does not take $2. ",
  ],
  [/^option '(?:-\w, )?(--[\w-]{1,40}) ([^']{0,60})' argument missing/, "$1 needs a value: $1 $2."],
  [/^required option '([^']*)' not specified/, "$1 is missing."],
  [/^missing required argument '([^']*)'/, "<$1> is missing."],
  [
    /^too many arguments for '([^']*)'\. Expected \d+ arguments? but got \d+/,
    "$1 got too many arguments",
  ],
];

/** The beginning of Commander's sentences. */
const PREFIX = "error: ";

/** Makes the errors of Commander plain: first what is wrong, then what to do. */
export function plainUsageError(text: string): string {
  if (!text.startsWith(PREFIX)) return text;
  const error = text.slice(PREFIX.length);
  const found = SENTENCES.find(([theirs]) => theirs.test(error));
  const ours = found ? error.replace(...found) : error;
  return `ctxd: ${ours
    .replace("Allowed choices are ", "Use one of ")
    .replace(" \n", "\n")
    .replace("(Did you mean ", "Did you mean ")
    .replace("?)\n", "?\n")}`;
}
