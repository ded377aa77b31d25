import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { SecurityLog } from "./security-log.ts";

const DAY = 24 * 3_600_000;
const HOUR = 3_600_000;
/** Milliseconds between two removals, in which requests are answered. */
const PAUSE = 20;

/** Removes old and surplus events now, and then every hour. @returns a function that stops it */
export function keepSecurityLogSmall({
  securityLog,
  days,
  clock,
  log,
}: {
  securityLog: Pick<SecurityLog, "prune">;
  /** Days for which an event is kept. */
  days: number;
  clock: () => number;
  log: Log;
}): () => void {
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  const prune = async () => {
    let delay = HOUR;
    try {
      if (await securityLog.prune(new Date(clock() - days * DAY))) delay = PAUSE;
    } catch (error) {
      log.warn("security_log_not_pruned", { cause: messageOf(error) });
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
