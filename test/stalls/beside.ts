import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillEdges } from "./edges.ts";
import { memoryCases } from "./memory-cases.ts";
import { startProbedServer } from "./probed-server.ts";

/**
 * Measures how long another person waits while an account repeats one request, four at a time:
 * `bun test/stalls/beside.ts [scale] [words of names]`. Prints the 95th percentile of the person's saves and searches, alone and
 * beside the requests, in milliseconds.
 */
const [scale = "0.2", filter = ""] = process.argv.slice(2);
const AT_ONCE = 4;
const ROUNDS = 40;
/** Milliseconds after which a request is repeated no more. */
const PATIENCE = 30_000;

const folder = mkdtempSync(join(tmpdir(), "ctxd-beside-"));
try {
  const { edges } = await fillEdges(folder, Number(scale));
  await using server = await startProbedServer(folder, "real");
  let last = 0;
  const ask = async (path: string, init: RequestInit = {}) => {
    const started = performance.now();
    const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
    const response = await fetch(server.origin + path, { ...init, headers });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`the person's request was answered ${response.status}`);
    return performance.now() - started;
  };
  const percentile = async () => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const body = JSON.stringify({ content: `The invoice ${++last} is paid.` });
      times.push(await ask("/api/memories", { method: "POST", body }));
      times.push(await ask(`/api/memories/search?q=invoice+${last}`));
    }
    return times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
  };
  await percentile();
  for (const edge of edges) {
    for (const { route, path, init } of memoryCases(edge)) {
      const name = `${edge.name}: ${route} ${path.slice(0, 50)}`;
      if (!name.includes(filter)) continue;
      const alone = await percentile();
      const over = new AbortController();
      const signal = AbortSignal.any([over.signal, AbortSignal.timeout(PATIENCE)]);
      const repeat = async () => {
        while (!signal.aborted) {
          await fetch(server.origin + path, { ...init, signal }).then(
            (response) => response.arrayBuffer(),
            () => {},
          );
        }
      };
      const repeating = Array.from({ length: AT_ONCE }, () => repeat().catch(() => {}));
      const beside = await percentile();
      over.abort();
      await Promise.all(repeating);
      const ratio = beside / alone;
      console.log(
        `${name.padEnd(100)} ${alone.toFixed(0).padStart(5)} ${beside.toFixed(0).padStart(6)} ×${ratio.toFixed(1)}${ratio > 3 ? " <<<" : ""}`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
