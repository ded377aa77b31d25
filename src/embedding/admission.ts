import { AppError } from "../errors.ts";

/** Bounds what may wait at one time, so that memory and waiting times stay bounded too. */
export interface Admission {
  /** Runs the work if there is room for a text of this size. */
  admit<T>(characters: number, work: () => Promise<T>): Promise<T>;
  /** How many texts wait or are worked on. */
  waiting(): number;
}

/** @throws AppError `unavailable` from `admit` when more texts or characters than this would wait */
export function createAdmission(most: { texts: number; characters: number }): Admission {
  let texts = 0;
  let characters = 0;
  return {
    waiting: () => texts,
    async admit(size, work) {
      if (texts + 1 > most.texts || characters + size > most.characters) {
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
