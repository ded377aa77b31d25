import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { version } from "../../package.json" with { type: "json" };
import { errorResponse, ref } from "./openapi.ts";

/**
 * `ok`, or what is the matter. `loading` is no failure: requests wait for it. Nor is `late`: what
 * should have been done by now, without which the server works. Nor is `changing`: the old answers
 * meanwhile.
 */
export type CheckResult = "ok" | "loading" | "late" | "failed" | `changing, ${number} % done`;

/** Milliseconds that a check may take; `ctxd health` waits for 5 s. */
const PATIENCE = 3_000;

/** What the server needs to do its work, each with a way to ask how it is. */
export type Checks = Readonly<Record<string, () => CheckResult | Promise<CheckResult>>>;

const Health = Type.Object({
  status: Type.Union([Type.Literal("ok"), Type.Literal("failed")]),
  version: Type.String({ examples: [version] }),
  checks: Type.Record(Type.String(), Type.String(), {
    examples: [{ database: "ok", memories: "ok", disk: "ok", embedding: "ok" }],
  }),
});

/** `GET /health`, for containers, monitors and people. Needs no key and tells nothing private. */
export function createHealthRoutes(checks: Checks) {
  return new Elysia({ tags: ["server"] }).model({ Health }).get(
    "/health",
    async ({ set }) => {
      const results = await runChecks(checks);
      const hasFailed = Object.values(results).includes("failed");
      if (hasFailed) set.status = 503;
      return { status: hasFailed ? "failed" : "ok", version, checks: results };
    },
    {
      detail: {
        operationId: "getHealth",
        summary: "Whether the server works",
        description: "For monitors and containers. Needs no key, and tells nothing of anyone.",
        security: [],
        responses: {
          200: {
            description: "It works.",
            content: { "application/json": { schema: ref("Health") } },
          },
          403: errorResponse(403),
          503: {
            description: "A part of it has failed; `checks` names it.",
            content: { "application/json": { schema: ref("Health") } },
          },
        },
      },
    },
  );
}

/** The result of each check, after some seconds at the most. */
export async function runChecks(checks: Checks): Promise<Record<string, CheckResult>> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await run(check)] as const),
  );
  return Object.fromEntries(results);
}

/** What hangs has failed: a disk that does not answer, say. */
async function run(check: Checks[string]): Promise<CheckResult> {
  const { promise: late, resolve } = Promise.withResolvers<CheckResult>();
  const timer = setTimeout(resolve, PATIENCE, "failed");
  try {
    return await Promise.race([check(), late]);
  } catch {
    return "failed";
  } finally {
    clearTimeout(timer);
  }
}
