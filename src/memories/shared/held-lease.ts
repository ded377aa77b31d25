import { LEASE, type Lease, type SharedLog } from "../log/shared-log.ts";

/**
 * Runs a task under the lease of a table, which is renewed meanwhile. Whether it was kept is decided
 * when the task records what it did.
 * @returns false when another process has the lease: then nothing was done
 */
export async function withLease(
  log: Pick<SharedLog, "lease" | "renew" | "release">,
  { table, owner }: { table: string; owner: string },
  task: (lease: Lease) => Promise<void>,
): Promise<boolean> {
  const lease = await log.lease(table, owner);
  if (!lease) return false;
  const renew = () => void log.renew(lease).catch(() => {});
  const timer = setInterval(renew, LEASE / 3).unref();
  try {
    await task(lease);
    return true;
  } finally {
    clearInterval(timer);
    // It runs out by itself.
    await log.release(lease).catch(() => {});
  }
}
