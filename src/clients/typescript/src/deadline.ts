/** A moment by which something has to come. */
export interface Deadline {
  /** Is aborted when the time is over, or by who called. */
  readonly signal: AbortSignal;
  readonly isOver: boolean;
  /** From now on there is the whole time again. */
  start(): void;
  stop(): void;
}

/** Milliseconds: a timer that is set to more ends at once. */
const LONGEST = 2 ** 31 - 1;

/**
 * @param timeout milliseconds
 * @param outer aborts it too
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
      timer = setTimeout(() => controller.abort(), Math.min(timeout, LONGEST));
    },
    stop,
  };
}
