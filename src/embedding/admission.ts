import { AppError } from "../errors.ts";

/** Limits how much work may wait, which limits memory and waiting times. */
export interface Admission {
  /** Runs the work if a text of this size may wait. */
  admit<T>(characters: number, work: () => Promise<T>): Promise<T>;
  /** Number of texts that wait or are being embedded. */
  waiting(): number;
}

/** `admit` throws AppError `unavailable` when more than `max` texts or characters would wait. */
export function createAdmission(max: { texts: number; characters: number }): Admission {
  let texts = 0;
  let characters = 0;
  return {
    waiting: () => texts,
    async admit(size, work) {
      if (texts + 1 > max.texts || characters + size > max.characters) {
        throw new AppError(
          "unavailable",
          "Too many texts are waiting to be embedded: try again in a moment.",
          { retryAfter: 1 },
        );
      }
      texts++;
      characters += size;
      try {
        return await work();
      } finally {
        texts--;
        characters -= size;
      }
    },
  };
}
