/** A time limit that can be restarted. */
export interface Deadline {
  /** Aborted when the time is over, or by the caller's signal. */
  readonly signal: AbortSignal;
  readonly isOver: boolean;
  /** Starts the full time again. */
  start(): void;
  stop(): void;
}

/** Milliseconds. A timer with a longer time would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * @param timeout milliseconds
 * @param outer the caller's signal
 */
export function createDeadline(timeout: number, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => clearTimeout(timer);
  return {
    signal: outer ? AbortSignal.any([controller.signal, outer]) : controller.signal,
    get isOver() {
      return controller.signal.aborted;
    },
    start() {
      stop();
      timer = setTimeout(() => controller.abort(), Math.min(timeout, MAX_TIMER_MS));
    },
    stop,
  };
}
