import { STOP_SIGNALS } from "../system/signals.ts";
import { CommandError } from "./command-error.ts";

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
