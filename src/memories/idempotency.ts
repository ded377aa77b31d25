import { AppError } from "../errors.ts";
import { createPause } from "../pause.ts";
import { ANSWER_LIFETIME, type Answer, AnswersTaken, type Log } from "./log/log.ts";

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * Makes a request that is sent twice with one key happen once. The log keeps which memories a request
 * made, and not the answer itself: it is read from the memories again, so that there is no second
 * copy of a text to forget. `clock` gives milliseconds.
 */
export function createIdempotency({
  log,
  clock,
}: {
  log: Pick<Log, "answer">;
  clock: () => number;
}) {
  /** Requests that are under way, by account and key. */
  const underWay = new Map<string, { requestHash: string; ids: Promise<string[]> }>();
  const findAnswer = (accountId: string, keyHash: string) =>
    log.answer(accountId, keyHash, clock() - ANSWER_LIFETIME);

  return {
    /** Ids of the memories that a request with this key made in the last 24 hours. */
    async made(accountId: string, key: string): Promise<readonly string[]> {
      return (await findAnswer(accountId, hash(key)))?.memoryIds ?? [];
    },

    /**
     * Ids of the memories that `create` makes, or that it made when it was first called with this
     * key in the last 24 hours.
     * @param request what the key was sent with; the same key with another request is refused
     * @param create must append what `answer` returns for its ids with the entry that has the memories
     * @throws AppError `validation_failed`
     */
    async once(
      accountId: string,
      key: string,
      request: unknown,
      create: (answer: (memoryIds: string[]) => Answer) => Promise<string[]>,
    ): Promise<string[]> {
      const keyHash = hash(key);
      const requestHash = await hashList(Array.isArray(request) ? request : [request]);
      const name = `${accountId} ${keyHash}`;
      let running = underWay.get(name);
      while (running) {
        if (running.requestHash === requestHash) return await running.ids;
        // Only when it is done is it known whether the key is taken.
        await running.ids.catch(() => {});
        running = underWay.get(name);
      }
      const createUnlessTaken = async () => {
        const answer = (memoryIds: string[]) => ({
          ...{ accountId, keyHash, requestHash, memoryIds },
          createdAt: clock(),
        });
        try {
          return await create(answer);
        } catch (error) {
          // Another process was asked for the same at the same moment.
          if (error instanceof AnswersTaken) return null;
          throw error;
        }
      };
      const findOrCreate = async (): Promise<string[]> => {
        const known = await findAnswer(accountId, keyHash);
        if (!known) return (await createUnlessTaken()) ?? (await findOrCreate());
        if (known.requestHash === requestHash) return known.memoryIds;
        throw new AppError(
          "validation_failed",
          "This Idempotency-Key was used for another request. Use a new key for a new request.",
          { details: [{ path: "/Idempotency-Key", message: "was used for another request" }] },
        );
      };
      const ids = findOrCreate().finally(() => underWay.delete(name));
      underWay.set(name, { requestHash, ids });
      return await ids;
    },
  };
}

/** The hash of a list as JSON. It may be long: others have their turn between its items. */
async function hashList(items: readonly unknown[]): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256").update("[");
  const turn = createPause();
  for (const [index, item] of items.entries()) {
    hasher.update((index === 0 ? "" : ",") + JSON.stringify(item));
    await turn();
  }
  return hasher.update("]").digest("hex");
}

function hash(text: string) {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
