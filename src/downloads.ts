import { messageOf } from "./errors.ts";

/** Milliseconds without a byte after which a download is given up. */
const SILENCE = 60_000;

/** The time in which nothing comes of a download. */
export interface Silence extends Disposable {
  /** Aborted when it has lasted too long. */
  readonly signal: AbortSignal;
  /** Something came: it begins again. */
  end(): void;
}

export function createSilence(): Silence {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error("nothing comes")), SILENCE);
  return {
    signal: controller.signal,
    end: () => void timer.refresh(),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

/** Why a request failed, for the end of a sentence: Bun adds a question to who reads it. */
export function reasonOfRequest(cause: unknown): string {
  return messageOf(cause).replace(/\. Is the computer.*|\.$/, "");
}
