import { LEASE, type Lease, type Leases } from "../log/shared-log.ts";

/**
 * Runs a task under a lease, which is renewed meanwhile. Whether it was kept is decided
 * when the task records what it did.
 * @returns false when another process has the lease: then nothing was done
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
    // It runs out by itself.
    await leases.release(lease).catch(() => {});
  }
}
