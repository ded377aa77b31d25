import { expect } from "bun:test";
import type { Memory } from "../../src/memories/model/memory.ts";
import { readAll } from "../crash/writer.ts";
import { type Answer, createClient } from "../support/client.ts";
import type { Random } from "../support/random.ts";

/** Milliseconds between two saves. */
const PACE = 40;
/** Saves after which it rests: tables without writes are indexed. */
const REST_AFTER = 8;
/** Milliseconds for which a save is repeated. */
const RETRY_MS = 90_000;

/**
 * A client that saves batches on any server, each until it is answered: an `Idempotency-Key` makes that
 * safe. So it knows exactly which memories must exist. None of them is changed or removed.
 */
export function createSaver({
  origin,
  key,
  random,
  rest,
}: {
  /** The origin of the next request, called before each. */
  origin: () => string;
  key: string;
  random: Random;
  /** Resolves when the next saves may come. */
  rest: () => Promise<void>;
}) {
  const saved = new Map<string, Memory>();
  const counts = { saves: 0, retried: 0 };

  const attempt = async (json: unknown, idempotencyKey: string): Promise<Answer | null> => {
    const headers = { "idempotency-key": idempotencyKey };
    try {
      const client = createClient(origin(), key);
      const answer = await client.send("POST", "/memories/batch", { json, headers });
      if (answer.status !== 503) return answer;
      expect(answer.headers.get("retry-after")).not.toBeNull();
      return null;
    } catch (error) {
      if (error instanceof Error && "matcherResult" in error) throw error;
      return null;
    }
  };

  const save = async () => {
    const memories = Array.from({ length: 5 }, () => ({ content: `${random.word()} saved` }));
    const idempotencyKey = random.word();
    const end = performance.now() + RETRY_MS;
    let answer = await attempt({ memories }, idempotencyKey);
    for (; answer === null && performance.now() < end; counts.retried++) {
      await Bun.sleep(50);
      answer = await attempt({ memories }, idempotencyKey);
    }
    expect(answer).toMatchObject({ status: 201 });
    const { memories: made } = (answer?.body ?? {}) as { memories: Memory[] };
    for (const memory of made) saved.set(memory.id, memory);
    counts.saves++;
  };

  return {
    counts,
    async run(isOver: () => boolean): Promise<void> {
      while (!isOver()) {
        await save();
        if (counts.saves % REST_AFTER === 0) await rest();
        else await Bun.sleep(PACE);
      }
    },
    /** Expects every save once on this server, and nothing else. */
    async check(server: string): Promise<void> {
      const there = await readAll(createClient(server, key));
      expect([...there.keys()].sort()).toEqual([...saved.keys()].sort());
    },
  };
}
