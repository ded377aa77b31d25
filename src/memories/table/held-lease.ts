import type { Lease } from "../log/records.ts";
import { LEASE, type Leases } from "../log/shared-log.ts";

/**
 * Runs a task under a lease, which is renewed meanwhile. A lost lease is noticed when the task records its
 * result.
 * @returns false when another process has the lease; then the task did not run
 */
export async function withLease(
  leases: Leases,
  { table, owner }: { table: string; owner: string },
  task: (lease: Lease) => Promise<void>,
): Promise<boolean> {
  const lease = await leases.lease(table, owner);
  if (!lease) return false;
  const renew = () => void leases.renew(lease).catch(() => {});
  const timer = setInterval(renew, LEASE / 3).unref();
  try {
    await task(lease);
    return true;
  } finally {
    clearInterval(timer);
    // If releasing fails, the lease expires.
    await leases.release(lease).catch(() => {});
  }
}
