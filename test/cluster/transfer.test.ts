import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startCluster } from "../support/cluster.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { until } from "../support/until.ts";

const MEMORIES = 1_500;
const TIMEOUT = 120_000;

const lines = Array.from({ length: MEMORIES }, (_, n) => JSON.stringify({ content: `line ${n}` }));

/**
 * A load balancer before replicas: each request goes to the next one that takes it.
 * @param origins of the replicas
 */
function startProxy(origins: readonly string[]) {
  let turn = 0;
  const imports: number[] = [];
  const server = Bun.serve({
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = await request.arrayBuffer();
      for (let tried = 0; tried < origins.length; tried++) {
        const index = turn++ % origins.length;
        const init = { method: request.method, headers: request.headers, body };
        const sent = request.method === "GET" ? { headers: request.headers } : init;
        const answer = await fetch(`${origins[index]}${pathname}${search}`, sent).catch(() => null);
        if (!answer) continue;
        if (pathname.endsWith("/import") && answer.ok) imports.push(index);
        return answer;
      }
      return new Response(null, { status: 502 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    /** Indexes of the replicas that have taken a part of an import, in order. */
    imports,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

test(
  "an import continues when its replica ends and duplicates nothing, and any replica exports all",
  async () => {
    await using cluster = await startCluster({ replicas: 2 });
    const { key } = await cluster.addAccount();
    const [first, second] = cluster.replicas;
    if (!first || !second) throw new Error("there are two");
    await using proxy = startProxy([first.origin(), second.origin()]);
    const folder = temporaryFolder();
    const [file, out] = [join(folder, "in.jsonl"), join(folder, "out.jsonl")];
    writeFileSync(file, `${lines.join("\n")}\n`);
    const run = (...args: string[]) =>
      ctxd([...args, "--url", proxy.url], {
        dataDir: join(folder, "none"),
        env: { CTXD_CACHE_DIR: testCacheDir },
        input: `${key}\n`,
      });

    const importing = run("import", file);
    await until("three parts of the import", () => proxy.imports.length >= 3);
    await first.kill();
    expect(await importing).toMatchObject({ exitCode: 0 });
    expect(proxy.imports).toContain(0);
    expect(proxy.imports.at(-1)).toBe(1);
    // Importing again, as after an interruption, adds nothing.
    expect((await run("import", file)).stderr).toContain(`0 new, ${MEMORIES} here already`);

    await first.start();
    for (const origin of [first.origin(), second.origin()]) {
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(`${origin}/api/memories/export`, { headers });
      const found = (await answer.text()).trim().split("\n");
      expect(found.map((line) => JSON.parse(line).content).sort()).toEqual(
        lines.map((line) => JSON.parse(line).content).sort(),
      );
    }
    expect((await run("export", out)).stderr).toContain(
      `Exported ${MEMORIES.toLocaleString("en")}`,
    );
  },
  TIMEOUT,
);
