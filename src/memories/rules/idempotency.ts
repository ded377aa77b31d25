import { AppError } from "../../errors.ts";
import { hashOf } from "../../system/file-digest.ts";
import { createPause } from "../../timing/pause.ts";
import { ANSWER_LIFETIME, AnswersTaken, type Log } from "../log/log.ts";
import type { IdempotencyRecord } from "../log/records.ts";

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * Makes a repeated request with the same key take effect once. The log records which memories the request
 * created, not its answer: the memories are read again, so that deleted text has no second copy.
 * @param clock milliseconds since 1970
 */
export function createIdempotency({
  log,
  clock,
}: {
  log: Pick<Log, "answer">;
  clock: () => number;
}) {
  /** Running requests, by account and key. */
  const running = new Map<string, { requestHash: string; ids: Promise<string[]> }>();
  const findAnswer = (accountId: string, keyHash: string) =>
    log.answer(accountId, keyHash, clock() - ANSWER_LIFETIME);

  return {
    /** Ids of the memories that a request with this key saved in the last 24 hours. */
    async savedWith(accountId: string, key: string): Promise<readonly string[]> {
      return (await findAnswer(accountId, hashOf(key)))?.memoryIds ?? [];
    },

    /**
     * Ids of the memories that `create` makes, or has made when it was called with this key in the last 24
     * hours.
     * @param request what the key was sent with; the same key with another request is refused
     * @param create must append the result of `answer` in the same entry as the memories
     * @throws AppError `validation_failed`
     */
    async once(
      accountId: string,
      key: string,
      request: unknown,
      create: (answer: (memoryIds: string[]) => IdempotencyRecord) => Promise<string[]>,
    ): Promise<string[]> {
      const keyHash = hashOf(key);
      const requestHash = await hashList(Array.isArray(request) ? request : [request]);
      const name = `${accountId} ${keyHash}`;
      let other = running.get(name);
      while (other) {
        if (other.requestHash === requestHash) return await other.ids;
        // If the other request fails, the key is free again.
        await other.ids.catch(() => {});
        other = running.get(name);
      }
      const answer = (memoryIds: string[]): IdempotencyRecord => {
        return { accountId, keyHash, requestHash, memoryIds, createdAt: clock() };
      };
      const findOrCreate = async (): Promise<string[]> => {
        const known = await findAnswer(accountId, keyHash);
        if (!known) {
          return await create(answer).catch((error) => {
            // Another process may have handled a request with the same key meanwhile.
            if (error instanceof AnswersTaken) return findOrCreate();
            throw error;
          });
        }
        if (known.requestHash === requestHash) return known.memoryIds;
        throw new AppError(
          "validation_failed",
          "This Idempotency-Key was used for another request. Use a new key for a new request.",
          { details: [{ path: "/Idempotency-Key", message: "was used for another request" }] },
        );
      };
      const ids = findOrCreate().finally(() => running.delete(name));
      running.set(name, { requestHash, ids });
      return await ids;
    },
  };
}

/** Hashes a list as JSON. The list may be long: other requests run between its items. */
async function hashList(items: readonly unknown[]): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256").update("[");
  const pause = createPause();
  for (const [index, item] of items.entries()) {
    hasher.update((index === 0 ? "" : ",") + JSON.stringify(item));
    await pause();
  }
  return hasher.update("]").digest("hex");
}
