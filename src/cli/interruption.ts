import { STOP_SIGNALS } from "../system/signals.ts";
import { CommandError } from "./command-error.ts";

/** Runs a job that Ctrl-C or SIGTERM asks to stop by its signal, so that it can clean up. */
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
