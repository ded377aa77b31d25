import type { Embedders } from "../embedding/chosen-model.ts";
import type { Log as Lines } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Expiry } from "./background/expiry.ts";
import type { Following } from "./cluster/following.ts";
import type { QuotaOf } from "./model/quota.ts";
import type { Storage } from "./table/storage.ts";
import type { Due } from "./upkeep/flush-state.ts";

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
