import { DEFAULT_DECAY, type Decay } from "../../config/config.ts";
import type { Reach } from "../../keys/reach.ts";
import { createMetrics, type Metrics } from "../../metrics.ts";
import type { Store } from "../store/store.ts";
import { createDistilling } from "./distilling.ts";
import { createForgetting } from "./forgetting/forgetting.ts";
import type { Idempotency } from "./idempotency.ts";
import { type ImportLine, type ImportOptions, importMemories } from "./import/import.ts";
import type { TimesFound } from "./listing.ts";
import { createMove } from "./moving.ts";
import { createReading } from "./reading.ts";
import { createSaving } from "./saving.ts";
import { createSecretScan } from "./secrets/secret-scan.ts";
import { createSecretWatch } from "./secrets/secret-watch.ts";
import { createNeighbours } from "./similar.ts";
import { createSupersedeThese } from "./tidy/supersede-these.ts";
import { createTidying } from "./tidy/tidying.ts";
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
  timesFound = async () => new Map(),
}: {
  store: Store;
  idempotency: Idempotency;
  clock: () => number;
  decay?: Decay;
  metrics?: Metrics;
  /** By default no memory was ever found. */
  timesFound?: TimesFound;
}) {
  const parts = { store, clock };
  const secrets = createSecretWatch(metrics);
  const withSecrets = createSecretScan(parts);
  const reading = createReading({ store, clock, decay, timesFound });
  const writing = createWriting({ ...parts, get: reading.get, secrets });
  return {
    ...reading,
    ...createNeighbours(parts),
    ...createSaving({ ...parts, idempotency, secrets }),
    ...writing,
    ...createForgetting({
      ...parts,
      search: reading.search,
      removeMatching: writing.removeMatching,
    }),
    ...createMove(parts),
    ...createDistilling(parts),
    /** Imports memories; see `importMemories`. */
    import: (reach: Reach, lines: AsyncIterable<ImportLine>, options: ImportOptions) =>
      importMemories({ ...parts, secrets }, reach, lines, options),
    secrets,
    /** Ids of the memories that contain secrets; see `createSecretScan`. */
    withSecrets,
    ...createTidying({ ...parts, withSecrets, kindsIn: secrets.kindsIn }),
    /** Makes a memory supersede saved ones; see `createSupersedeThese`. */
    supersedeThese: createSupersedeThese(parts),
  };
}
