import { messageOf } from "./errors.ts";

/** Milliseconds without a byte after which a download is aborted. */
const STALL_TIMEOUT_MS = 60_000;

/** Aborts a download that has received nothing for a while. */
interface StallTimer extends Disposable {
  /** Aborted when the download has stalled. */
  readonly signal: AbortSignal;
  /** Restarts the timer. Call it for all received bytes. */
  restart(): void;
}

export function createStallTimer(): StallTimer {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error("the download stalled")),
    STALL_TIMEOUT_MS,
  );
  return {
    signal: controller.signal,
    restart: () => void timer.refresh(),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

/** Why a request failed, for the end of a sentence: without the question that Bun appends. */
export function requestFailure(cause: unknown): string {
  return messageOf(cause).replace(/\. Is the computer.*|\.$/, "");
}
