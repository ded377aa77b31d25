import { AppError } from "../errors.ts";
import type { Asker } from "./embedder.ts";

/** Limits how much work may wait, which limits memory and waiting times. */
export interface Admission {
  /** Runs the work if a text of this size may wait. */
  admit<T>(asker: Asker, characters: number, work: () => Promise<T>): Promise<T>;
  /** Number of texts that wait or are being embedded. */
  waiting(): number;
}

/** What waits. */
interface Load {
  texts: number;
  characters: number;
}

const ALL = "all";

/**
 * An account may take half of the room that other accounts leave, and each of its keys half of what the
 * account's other keys leave. So nobody alone takes all of it, and another account and another key find room.
 * `admit` throws AppError `unavailable` when there is no room.
 * @param max what may wait of all accounts
 */
export function createAdmission(max: Load): Admission {
  const loads = new Map<string, Load>();
  const loadOf = (name: string): Load => loads.get(name) ?? { texts: 0, characters: 0 };
  /** All, the account, its key. */
  const namesOf = ({ accountId, credential }: Asker) => [
    ALL,
    `account ${accountId}`,
    `key ${accountId} ${credential?.id ?? ""}`,
  ];
  const add = (names: readonly string[], texts: number, characters: number) => {
    for (const name of names) {
      const load = loadOf(name);
      const next = { texts: load.texts + texts, characters: load.characters + characters };
      if (next.texts > 0) loads.set(name, next);
      else loads.delete(name);
    }
  };
  const fits = (names: readonly string[], size: Load) => {
    const hasRoom = (of: keyof Load) => {
      let room = max[of];
      let parent = loadOf(ALL)[of];
      for (const name of names.slice(1)) {
        const own = loadOf(name)[of];
        room = (room - (parent - own)) / 2;
        if (own + size[of] > room) return false;
        parent = own;
      }
      return true;
    };
    return hasRoom("texts") && hasRoom("characters");
  };

  return {
    waiting: () => loadOf(ALL).texts,
    async admit(asker, characters, work) {
      const names = namesOf(asker);
      if (!fits(names, { texts: 1, characters })) {
        throw new AppError(
          "unavailable",
          "Too many texts are waiting to be embedded: try again in a moment.",
          { retryAfter: 1 },
        );
      }
      add(names, 1, characters);
      try {
        return await work();
      } finally {
        add(names, -1, -characters);
      }
    },
  };
}
