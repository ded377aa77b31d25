import { join } from "node:path";
import { freePort } from "../../support/free-port.ts";
import { installLocked } from "../../support/locked-install.ts";
import { type EmbeddedMemory, LIMIT, type Peer } from "./peer.ts";

/** Milliseconds that it may take to listen. */
const PATIENCE = 30_000;
const LOOK_EVERY = 10;
const COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections";

/**
 * The server of Chroma, `chroma run`, over HTTP. Its program is in an npm package of 420 MB, which is installed when it is first
 * measured. Newer versions need glibc 2.39.
 */
export const chromaPeer: Peer = {
  name: "Chroma",
  needsVectors: true,
  scope: "meaning; is on disk; no sign-in by default",
  async start(folder) {
    const port = freePort();
    const child = await run(folder, port);
    const origin = `http://localhost:${port}`;
    await untilListening(origin, child);
    const post = async (path: string, body: unknown) => {
      const response = await fetch(`${origin}${COLLECTIONS}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`Chroma: ${response.status} ${text.slice(0, 300)}`);
      return text;
    };
    const { id } = JSON.parse(await post("", { name: "memories", get_or_create: true }));
    const load = (memories: readonly EmbeddedMemory[]) => {
      const rows = memories.flatMap(({ id, passages }) =>
        passages.map(({ text, vector }, at) => ({ id: `${id}-${at}`, text, vector: [...vector] })),
      );
      return post(`/${id}/add`, {
        ids: rows.map(({ id }) => id),
        embeddings: rows.map(({ vector }) => vector),
        documents: rows.map(({ text }) => text),
      });
    };
    return {
      pid: child.pid,
      load,
      save: (memory) => load([memory]),
      search: ({ vector }) =>
        post(`/${id}/query`, { query_embeddings: [[...vector]], n_results: LIMIT }),
      async stop() {
        child.kill();
        await child.exited;
      },
    };
  },
};

async function run(folder: string, port: number) {
  const modules = await installLocked(join(import.meta.dir, "chroma"), "peers");
  const program = join(modules, "chromadb", "dist", "cli.mjs");
  const node = Bun.which("node") ?? process.execPath;
  return Bun.spawn([node, program, "run", "--path", folder, "--port", String(port)], {
    ...{ stdin: "ignore", stdout: "ignore", stderr: "pipe", env: { HOME: "/nonexistent" } },
  });
}

async function untilListening(origin: string, child: Awaited<ReturnType<typeof run>>) {
  const started = performance.now();
  while (!(await fetch(`${origin}/api/v2/heartbeat`).catch(() => null))?.ok) {
    if (child.exitCode !== null || performance.now() - started > PATIENCE) {
      child.kill();
      throw new Error((await child.stderr.text()).trim());
    }
    await Bun.sleep(LOOK_EVERY);
  }
}
