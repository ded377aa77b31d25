import type { SharedSettings } from "../../config/shared-settings.ts";
import type { Log as Lines } from "../../log.ts";
import type { Metrics } from "../../metrics.ts";
import { measureObjects } from "../../objects/measured-objects.ts";
import { createObjects } from "../../objects/objects.ts";
import type { BaseRecords } from "../log/base-records.ts";
import { createBaseCache } from "./base-cache.ts";
import { createObjectVault } from "./object-vault.ts";
import { createSweep, startSweep } from "./sweep.ts";
import type { Vault } from "./vault.ts";

/**
 * Opens the vault that several replicas share, and sweeps it in the background.
 * @param folder for the local copies; no other process uses it
 */
export function openSharedVault({
  settings,
  folder,
  records,
  lines,
  metrics,
}: {
  settings: Pick<SharedSettings, "objects" | "cacheBytes">;
  folder: string;
  records: BaseRecords;
  lines: Lines;
  metrics: Metrics;
}): { vault: Vault; stop(): Promise<void> } {
  const objects = measureObjects(createObjects(settings.objects), metrics);
  const cache = createBaseCache({ folder, limit: settings.cacheBytes });
  metrics.gauge("ctxd_cache_bytes", "Bytes of bases on this machine.", cache.size);
  const sweeping = startSweep(createSweep({ objects, records, cache }), { lines });
  return { vault: createObjectVault({ objects, records, cache }), stop: sweeping.stop };
}
