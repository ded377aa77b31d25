import { join } from "node:path";
import { SOCKET } from "../../src/system/folders.ts";

/** The metrics of the server that owns a data folder, as text. */
export async function fetchMetrics(dataDir: string): Promise<string> {
  const unix = join(dataDir, SOCKET);
  return await (await fetch("http://localhost/api/metrics", { unix })).text();
}

/** The value of a metric (`name` or `name{label="value"}`); `null` where a server does not have it. */
export function metricOf(metrics: string, name: string): number | null {
  const line = metrics.split("\n").find((line) => line.startsWith(`${name} `));
  return line === undefined ? null : Number(line.slice(name.length + 1));
}
