import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { calls, reads } from "./case.ts";
import { fillEdges } from "./edges.ts";
import { measure } from "./measure-step.ts";
import { memoryCases } from "./memory-cases.ts";
import { personCases } from "./person-cases.ts";
import { startProbedServer } from "./probed-server.ts";

/**
 * Measures the longest step of the main thread for every route and tool, with accounts that hold as much as they may:
 * `bun test/stalls/law.ts [--scale 1] [words of names]`. Prints CPU time in milliseconds, wall time in brackets.
 */
const [scale = "1", filter = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "ctxd-law-"));
try {
  const started = performance.now();
  const { edges, owner } = await fillEdges(folder, Number(scale));
  console.log(`filled in ${((performance.now() - started) / 1_000).toFixed(0)} s`);
  await using server = await startProbedServer(folder, "real");
  const all = [
    // What the server does right after it listens, and once for the first request of MCP.
    { of: "start", cases: [...reads(owner, "/api/health"), calls(owner, "tools/list")] },
    ...edges.map((edge) => ({ of: edge.name, cases: memoryCases(edge) })),
    { of: "many rows", cases: personCases(owner) },
  ];
  for (const { of, cases } of all) {
    for (const each of cases) {
      const name = `${of}: ${each.route} ${each.path.slice(0, 60)}`;
      if (!name.includes(filter)) continue;
      const { status, took, cpu, wall } = await measure(server, each);
      const mark = cpu > 100 ? " <<<" : "";
      console.log(
        `${name.padEnd(110)} ${status} ${cpu.toFixed(0).padStart(6)} (${wall.toFixed(0)}) took ${took.toFixed(0)}${mark}`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
