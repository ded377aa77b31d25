import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAX_BATCH } from "../../src/memories/model/memory.ts";
import { sendRaw } from "../support/raw-http.ts";
import { hostileRequests } from "./hostile-requests.ts";
import { largeRequests } from "./large-requests.ts";
import { startProbedServer } from "./probed-server.ts";

/**
 * Measures how long hostile requests block the main thread of a real server, each as large as the limits
 * allow: `bun test/stalls/stalls.ts [words of names]`. Prints the thread's CPU time and, in brackets, wall
 * time, in milliseconds.
 */
const [filter = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "ctxd-stalls-"));
try {
  await using server = await startProbedServer(folder, "real");
  const requests = [
    ...hostileRequests(server, { batchBytes: MAX_BATCH.bytes }),
    ...largeRequests(server),
  ];
  for (const { name, request } of requests.filter((each) => each.name.includes(filter))) {
    // Lets the work of earlier requests end.
    await Bun.sleep(100);
    await server.held();
    const started = performance.now();
    const { status } = await sendRaw(server.port, request(), 120_000);
    const took = performance.now() - started;
    const { wall, cpu } = await server.held();
    const mark = cpu > 100 ? " <<<" : "";
    console.log(
      `${name.slice(0, 90).padEnd(90)} ${status} ${cpu.toFixed(0).padStart(6)} (${wall.toFixed(0)}) took ${took.toFixed(0)}${mark}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
