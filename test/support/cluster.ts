import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "./client.ts";
import { addAccountTo, type ServerProcess, spawnServer } from "./server-process.ts";

// A stand-in until servers can share a database: one server under several names.

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

export interface Replica {
  origin: string;
  process: ServerProcess;
}

/** Starts servers that share one database and one object store. Ended by `await using`. */
export async function startCluster({ replicas: count = 3 } = {}) {
  const root = mkdtempSync(join(tmpdir(), "ctxd-cluster-"));
  const dataDir = join(root, "data");
  await Bun.$`mkdir -p ${dataDir}`;
  const process = spawnServer(dataDir, "impatient");
  const origin = await process.origin();
  const replicas: Replica[] = Array.from({ length: count }, () => ({ origin, process }));
  let turn = 0;
  let accounts = 0;

  return {
    replicas,
    /** The origin of each replica in turn. */
    next: () => replicas[turn++ % replicas.length]?.origin ?? "",
    /** A new account with a key of all scopes. */
    addAccount: () => addAccountTo(dataDir, `account-${++accounts}@example.com`),
    client: (replica: number, key: string) => createClient(replicas[replica]?.origin ?? "", key),
    async [Symbol.asyncDispose]() {
      await process.kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
