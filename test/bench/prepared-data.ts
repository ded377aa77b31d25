import { findLocalOwner } from "../../src/accounts/accounts.ts";
import { createEmbedders } from "../../src/embedding/chosen-model.ts";
import { createLog } from "../../src/log.ts";
import { UPKEEP_LIMITS } from "../../src/memories/upkeep/flush-state.ts";
import { createMetrics } from "../../src/metrics.ts";
import { prepareForLanceDb } from "../../src/native/lancedb.ts";
import { measureProcess } from "../../src/server/process-memory.ts";
import { openData } from "../support/live-data.ts";
import { createStandIn } from "./stand-in.ts";

/** Opens a data folder as a server does, without HTTP and with the stand-in for its model. */
export async function openPrepared(dataDir: string) {
  prepareForLanceDb();
  const metrics = createMetrics();
  measureProcess(metrics);
  const engine = createStandIn();
  const logger = createLog({ logLevel: "warn", logFormat: "text" });
  const data = await openData(dataDir, UPKEEP_LIMITS, createEmbedders(engine), { logger, metrics });
  const { id: accountId } = await findLocalOwner(data.accounts);
  return { ...data, accountId, engine, metrics: metrics.text };
}
