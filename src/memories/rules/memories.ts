import { DEFAULT_DECAY, type Decay } from "../../config/config.ts";
import { createMetrics, type Metrics } from "../../metrics.ts";
import type { Store } from "../store/store.ts";
import type { Idempotency } from "./idempotency.ts";
import { createReading } from "./reading.ts";
import { createSecretWatch } from "./secret-watch.ts";
import { createNeighbours } from "./similar.ts";
import { createWriting } from "./writing.ts";

/**
 * The service of ctxd: all rules about memories, which every transport calls. The account is the first
 * argument of each call, and limits it to that account's memories.
 */
export type Memories = ReturnType<typeof createMemories>;

/** @param clock milliseconds since 1970 */
export function createMemories({
  store,
  idempotency,
  clock,
  decay = DEFAULT_DECAY,
  metrics = createMetrics(),
}: {
  store: Store;
  idempotency: Idempotency;
  clock: () => number;
  decay?: Decay;
  metrics?: Metrics;
}) {
  const reading = createReading({ store, clock, decay });
  const secrets = createSecretWatch(metrics);
  const writing = createWriting({ store, idempotency, clock, secrets, get: reading.get });
  return { ...reading, ...createNeighbours({ store, clock }), ...writing, secrets };
}
