import { ConfigError } from "../config/settings.ts";
import { AppError, CtxdError } from "../errors.ts";
import { STOP_SIGNALS } from "../system/processes.ts";
import type { Environment } from "./context.ts";
import { printable } from "./printable.ts";

/** Exit codes of every command; 0 is done. */
const FAILED = 1;
export const USAGE = 2;

/** A command failed. `message` is the line that the user sees. */
export class CommandError extends CtxdError {
  override readonly name = "CommandError";
  readonly code = "command_failed";
  readonly exitCode: number;

  constructor(message: string, exitCode: typeof FAILED | typeof USAGE = FAILED) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Prints in one line on standard error why a command failed, and returns the exit code. For an unexpected
 * error, CTXD_LOG_LEVEL=debug prints the stack too.
 */
export function reportFailure(error: unknown, env: Environment): number {
  const { text, exitCode } = describe(error, env.CTXD_LOG_LEVEL === "debug");
  process.stderr.write(`ctxd: ${printable(text)}\n`);
  return exitCode;
}

function describe(error: unknown, debug: boolean): { text: string; exitCode: number } {
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
