import { CommandError } from "./failure.ts";

/** Runs a job that Ctrl-C or SIGTERM asks to stop by its signal, so that it can clean up. */
export async function interruptible<T>(
  job: (signal: AbortSignal) => Promise<T>,
  message = "Stopped: nothing was written.",
): Promise<T> {
  const controller = new AbortController();
  const stop = () => controller.abort(new CommandError(message));
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    return await job(controller.signal);
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}
