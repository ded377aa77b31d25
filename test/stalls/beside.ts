import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillEdges } from "./edges.ts";
import { memoryCases } from "./memory-cases.ts";
import { startProbedServer } from "./probed-server.ts";
import { repeat } from "./repeat.ts";

/**
 * Measures how long another person waits while an account repeats one request, four at a time:
 * `bun test/stalls/beside.ts [scale] [words of names]`. Prints the 95th percentile of the person's saves and searches beside each
 * request, in milliseconds, and how many times that of all that the person did alone in between, before and after each.
 */
const [scale = "0.2", filter = ""] = process.argv.slice(2);
const ROUNDS = 100;
/** Milliseconds between a request and the next measure of the person alone. */
const SETTLING = 1_000;

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
  /** Does what the person does, and returns how long each request took. */
  const work = async () => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const body = JSON.stringify({ content: `The invoice ${++last} is paid.` });
      times.push(await ask("/api/memories", { method: "POST", body }));
      times.push(await ask(`/api/memories/search?q=invoice+${last}`));
    }
    return times;
  };
  await work();
  const alone: number[] = [];
  const results: { name: string; p95: number }[] = [];
  for (const edge of edges) {
    for (const { route, path, init } of memoryCases(edge)) {
      const name = `${edge.name}: ${route} ${path.slice(0, 50)}`;
      if (!name.includes(filter)) continue;
      // What was given up is still ending.
      await Bun.sleep(SETTLING);
      alone.push(...(await work()));
      const stop = await repeat(server.origin + path, init);
      results.push({ name, p95: percentile(await work()) });
      await stop();
    }
  }
  const usual = percentile(alone);
  console.log(`alone: ${usual.toFixed(0)}`);
  for (const { name, p95 } of results.sort((a, b) => b.p95 - a.p95)) {
    console.log(`${name.padEnd(100)} ${p95.toFixed(0).padStart(5)} ×${(p95 / usual).toFixed(1)}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The 95th percentile. */
function percentile(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
}
