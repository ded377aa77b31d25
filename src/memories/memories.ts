import { DEFAULT_DECAY, type Decay } from "../config.ts";
import type { Idempotency } from "./idempotency.ts";
import { createReading } from "./reading.ts";
import type { Store } from "./store.ts";
import { createWriting } from "./writing.ts";

/**
 * What the product does: every rule about memories is here, and every transport calls it. The
 * account comes first in each call, and nothing of another account can be reached through it.
 */
export type Memories = ReturnType<typeof createMemories>;

/** @param clock milliseconds since 1970 */
export function createMemories({
  store,
  idempotency,
  clock,
  decay = DEFAULT_DECAY,
}: {
  store: Store;
  idempotency: Idempotency;
  clock: () => number;
  decay?: Decay;
}) {
  const reading = createReading({ store, clock, decay });
  return { ...reading, ...createWriting({ store, idempotency, clock, get: reading.get }) };
}
