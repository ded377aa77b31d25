import { startCluster } from "../../support/cluster.ts";
import { afterThisTest } from "../../support/database.ts";

/** A call of a replica to the object store. */
export interface Call {
  method: string;
  /** Without the bucket and the prefix; empty for calls of the bucket. */
  name: string;
  query: URLSearchParams;
  /** The honest answer, to a call with another body if it is given. */
  truth(body?: Uint8Array<ArrayBuffer>): Promise<Response>;
}

/** Answers a call instead of the store; null leaves it to the store. */
export type Lie = (call: Call) => Response | Promise<Response> | null;

export type LyingCluster = Awaited<ReturnType<typeof startLyingCluster>>;

/** Starts replicas over PostgreSQL and an object store, which tells lies once `lie` is set. */
export async function startLyingCluster(settings: Record<string, string> = {}) {
  await using opened = new AsyncDisposableStack();
  const calls: Omit<Call, "truth">[] = [];
  /** All objects that were ever stored. */
  const stored = new Map<string, Uint8Array<ArrayBuffer>>();
  let lie: Lie = () => null;
  let target = "";

  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search, searchParams: query } = new URL(request.url);
      const { method, headers } = request;
      const body = method === "PUT" ? new Uint8Array(await request.arrayBuffer()) : null;
      const name = decodeURIComponent(pathname.replace(/^\/[^/]+\/(memories\/)?/, ""));
      calls.push({ method, name, query });
      if (body) stored.set(name, body);
      headers.set("host", new URL(target).host);
      const truth = (other = body) => {
        if (other) headers.set("content-length", String(other.byteLength));
        return fetch(`${target}${pathname}${search}`, { method, headers, body: other });
      };
      return (await lie({ method, name, query, truth })) ?? (await truth());
    },
  });
  opened.defer(() => proxy.stop(true));

  const cluster = opened.use(
    await startCluster({
      replicas: 0,
      settings: { ...settings, AWS_ENDPOINT_URL_S3: proxy.url.origin },
    }),
  );
  target = cluster.objects.endpoint;
  await Promise.all([cluster.addReplica(), cluster.addReplica()]);
  const held = opened.move();
  return {
    ...cluster,
    stored,
    calls,
    setLie(next: Lie | null) {
      lie = next ?? (() => null);
      calls.length = 0;
    },
    /** Sets a lie for the rest of this test. */
    lieInThisTest(next: Lie) {
      this.setLie(next);
      afterThisTest(() => this.setLie(null));
    },
    /** Whether all changes are in the object store, and no longer in PostgreSQL. */
    isFlushed: async () =>
      (await cluster.postgres.execute("select 1 from journal", cluster.database.name)).length === 0,
    /** The base of an account's table. */
    async baseOf(accountId: string): Promise<string> {
      const query = `select base from checkpoints where name = '${accountId}'`;
      return (await cluster.postgres.execute(query, cluster.database.name))[0].base;
    },
    rows: (query: string) => cluster.postgres.execute(query, cluster.database.name),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** A page of a listing with these objects and folders, whatever was asked for. */
export function listing(objects: readonly string[], folders: readonly string[] = []): Response {
  const contents = objects.map((key) => `<Contents><Key>${key}</Key><Size>5</Size></Contents>`);
  const prefixes = folders.map(
    (key) => `<CommonPrefixes><Prefix>${key}/</Prefix></CommonPrefixes>`,
  );
  return new Response(
    `<ListBucketResult>${[...contents, ...prefixes].join("")}</ListBucketResult>`,
  );
}
