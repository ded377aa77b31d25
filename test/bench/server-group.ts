import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startObjectStore } from "../support/object-store.ts";
import { startPostgres } from "../support/postgres.ts";
import { createKey, type Folders, type ServerProcess, startServer } from "./server-process.ts";

interface Place {
  command: readonly string[];
  root: string;
  cache: string;
  model?: string;
}

/** Bytes of the database's log and requests that wrote objects, since the group was started. */
export interface Cost {
  logBytes: number;
  puts: number;
}

/** Servers that have the same accounts, each in a process of its own. */
export interface Group extends AsyncDisposable {
  name: string;
  servers: ServerProcess[];
  key: string;
  /** One more server, with an empty folder where servers share their data: the former one starts anew elsewhere. */
  addServer(): Promise<ServerProcess>;
  cost(): Promise<Cost>;
}

/** @param replicas that share a database and an object store; 0 for one server on its own folder */
export async function startGroup(replicas: number, place: Place): Promise<Group> {
  return replicas === 0 ? startAlone(place) : startReplicas(replicas, place);
}

async function startAlone({ command, root, cache, model }: Place): Promise<Group> {
  const data = mkdtempSync(join(root, "alone-"));
  const folders: Folders = { data, cache, ...(model && { model }) };
  const key = await createKey(command, folders);
  const servers = [await startServer(command, folders)];
  return {
    name: "one server",
    servers,
    key,
    async addServer() {
      await servers[0]?.stop();
      servers[0] = await startServer(command, folders);
      return servers[0];
    },
    // SQLite takes the same file for its log again and again: what it writes has to be counted.
    cost: async () => ({ logBytes: writtenBy(servers[0]?.pid ?? 0), puts: 0 }),
    [Symbol.asyncDispose]: async () => {
      for (const server of servers) await server.stop();
    },
  };
}

async function startReplicas(
  count: number,
  { command, root, cache, model }: Place,
): Promise<Group> {
  await using opened = new AsyncDisposableStack();
  const postgres = opened.use(await startPostgres({ durable: true }));
  const objects = opened.use(await startObjectStore());
  const { url } = await postgres.database();
  const shared = { CTXD_DATABASE_URL: url, ...objects.settings() };
  const servers: ServerProcess[] = [];
  const foldersOf = (): Folders => {
    const data = mkdtempSync(join(root, "replica-"));
    return { data, cache, shared, ...(model && { model }) };
  };
  const addServer = async () => {
    const server = await startServer(command, foldersOf());
    servers.push(server);
    return server;
  };
  const key = await createKey(command, foldersOf());
  opened.defer(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });
  for (let started = 0; started < count; started++) await addServer();
  const [{ at: begin } = { at: "0/0" }] = await postgres.execute(
    "select pg_current_wal_lsn() as at",
  );
  const held = opened.move();
  return {
    name: count === 1 ? "1 replica" : `${count} replicas`,
    servers,
    key,
    addServer,
    async cost() {
      const statement = `select pg_wal_lsn_diff(pg_current_wal_lsn(), '${begin}') as bytes`;
      const [row] = await postgres.execute(statement);
      return { logBytes: Number(row.bytes), puts: await objects.requests("PUT") };
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** Bytes that a process has had written to disks. Linux only. */
function writtenBy(pid: number): number {
  try {
    return Number(/write_bytes: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
  } catch {
    return Number.NaN;
  }
}
