import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ObjectSettings } from "../../src/config/shared-settings.ts";
import { FOR_MOMENTS } from "./for-moments.ts";
import { freePort } from "./free-port.ts";

const SERVER = join(import.meta.dir, "object-store-server.ts");

/** The only user that the server knows. */
const KEY = "S3RVER";

/** An object store in a process of its own, on a free port of this machine. */
export type ObjectStore = Awaited<ReturnType<typeof startObjectStore>>;

/**
 * Starts an object store with one empty bucket, in a temporary folder. It goes with `end`, or with
 * this process.
 */
export async function startObjectStore({ bucket = "ctxd" } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "ctxd-objects-"));
  const port = freePort();
  let child = await run(folder, port, bucket);
  const endpoint = `http://127.0.0.1:${port}`;
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };

  const end = async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  };

  return {
    endpoint,
    bucket,
    /** Keeps the objects: each is a file below BUCKET whose name ends with `._S3rver_object`. */
    folder,
    /**
     * Settings of a server that keeps its objects here.
     * @param prefix of all its objects
     */
    settings: (prefix = "memories"): Record<string, string> => ({
      CTXD_OBJECTS: `s3://${bucket}/${prefix}`,
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: KEY,
      AWS_SECRET_ACCESS_KEY: KEY,
    }),
    /** The same as the program's own settings. */
    place: (prefix = "memories"): ObjectSettings => ({
      ...{ bucket, prefix, endpoint, region: "us-east-1" },
      ...{ accessKeyId: KEY, secretAccessKey: KEY, sessionToken: null },
    }),
    /** How many requests of a method it has had since its start. */
    async requests(method: string): Promise<number> {
      const counts = (await (await fetch(`${endpoint}/-/counts`)).json()) as Record<string, number>;
      return counts[method] ?? 0;
    },
    /** Ends the process at once, as a power cut would; what it has is there after `start`. */
    stop: kill,
    /** Starts it again after `stop`, on the same port. */
    async start() {
      child = await run(folder, port, bucket);
    },
    /** Has it accept connections and answer none. */
    pause: () => child.kill("SIGSTOP"),
    resume: () => child.kill("SIGCONT"),
    end,
    [Symbol.asyncDispose]: end,
  };
}

let shared: Promise<ObjectStore> | null = null;
let lastPrefix = 0;

/** One store for all tests of this process, with an empty place in it. A test that stops it starts it again. */
export async function sharedObjects(): Promise<{ store: ObjectStore; place: ObjectSettings }> {
  shared ??= startObjectStore();
  const store = await shared;
  return { store, place: store.place(`place-${++lastPrefix}`) };
}

async function run(folder: string, port: number, bucket: string) {
  const child = Bun.spawn([process.execPath, SERVER, folder, String(port), bucket], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...FOR_MOMENTS },
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  if (value) return child;
  await child.exited;
  throw new Error(`no object store: ${await new Response(child.stderr).text()}`);
}
