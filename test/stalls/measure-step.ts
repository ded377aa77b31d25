import type { Case } from "./case.ts";
import type { ProbedServer } from "./probed-server.ts";

const PATIENCE = 300_000;

/** Sends a request, reads the whole response, and returns the longest step that the main thread took meanwhile. */
export async function measure(server: Pick<ProbedServer, "origin" | "held">, { path, init }: Case) {
  await server.held();
  const started = performance.now();
  const response = await fetch(`${server.origin}${path}`, {
    ...init,
    signal: AbortSignal.timeout(PATIENCE),
  });
  const { status, headers } = response;
  const isEndless = headers.get("content-type")?.includes("event-stream") && path !== "/mcp";
  if (isEndless) await response.body?.cancel();
  else for await (const _ of response.body ?? []);
  const took = performance.now() - started;
  return { status, took, ...(await server.held()) };
}
