import type { Embedders } from "../embedding/embedders.ts";
import type { Log as Lines } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Due } from "./due.ts";
import type { Expiry } from "./expiry.ts";
import type { QuotaOf } from "./quota.ts";
import type { Following } from "./shared/following.ts";
import type { Storage } from "./storage.ts";

export interface StoreOptions {
  storage: Storage;
  embedders: Embedders;
  lines: Lines;
  metrics: Metrics;
  /** An account's quota; null without one. */
  quotaOf: QuotaOf;
  /** When upkeep is due. */
  due?: Due;
  /** Bytes of memory for all views together. */
  room: number;
  /** How often the work of other processes is checked, where there are some. */
  following?: Following;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** When expired memories are removed. */
  expiry?: Expiry | undefined;
}
