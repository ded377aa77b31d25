import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Activity } from "./activity.ts";

const HOUR = 3_600_000;
/** Milliseconds between two batches, so that requests are answered in between. */
const PAUSE = 20;

/**
 * Deletes activity that is too old or too much, now and every hour.
 * @returns a function that stops it
 */
export function startPruning(activity: Pick<Activity, "prune">, log: Log): () => void {
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  const prune = async () => {
    let delay = HOUR;
    try {
      if (await activity.prune()) delay = PAUSE;
    } catch (error) {
      log.warn("activity_not_pruned", { cause: messageOf(error) });
    }
    if (isOver) return;
    timer = setTimeout(prune, delay);
    timer.unref();
  };
  void prune();
  return () => {
    isOver = true;
    if (timer) clearTimeout(timer);
  };
}
