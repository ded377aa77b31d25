import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { version } from "../../package.json" with { type: "json" };
import { withTimeLimit } from "../time-limit.ts";
import type { Drain } from "./drain.ts";
import { errorResponse, ref } from "./openapi.ts";

/**
 * `ok`, or what is the matter. `loading` is no failure: requests wait for it. Nor is `late`: what
 * should have been done by now, without which the server works. Nor is `changing`: the old answers
 * meanwhile. Nor is `unreachable`: what is at hand is answered meanwhile, the rest is not.
 */
export type CheckResult =
  | "ok"
  | "loading"
  | "late"
  | "unreachable"
  | "failed"
  | `changing, ${number} % done`;

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

const Life = Type.Object({
  status: Type.Literal("ok"),
  version: Type.String({ examples: [version] }),
});

/** What a server says of itself that is about to end. */
const STOPPING = { status: "failed", version, checks: { server: "stopping" } };

/**
 * `GET /health`, for load balancers, monitors and people, and `GET /health/live`, for what restarts a
 * program that hangs. They need no key and tell nothing private.
 */
export function createHealthRoutes(checks: Checks, drain: Pick<Drain, "isStopping">) {
  const routes = new Elysia({ tags: ["server"] }).model({ Health, Life });
  return routes
    .use(readiness(checks, drain))
    .get("/health/live", () => ({ status: "ok", version }), {
      detail: {
        operationId: "getLife",
        summary: "Whether the server answers at all",
        description:
          "For what restarts a program that hangs, such as Kubernetes. It asks nothing of the database, so that no server is restarted when that is away.",
        security: [],
        responses: {
          200: {
            description: "It answers.",
            content: { "application/json": { schema: ref("Life") } },
          },
          403: errorResponse(403),
        },
      },
    });
}

function readiness(checks: Checks, drain: Pick<Drain, "isStopping">) {
  return new Elysia({ tags: ["server"] }).get(
    "/health",
    async ({ set }) => {
      if (drain.isStopping()) {
        set.status = 503;
        return STOPPING;
      }
      const results = await runChecks(checks);
      const hasFailed = Object.values(results).includes("failed");
      if (hasFailed) set.status = 503;
      return { status: hasFailed ? "failed" : "ok", version, checks: results };
    },
    {
      detail: {
        operationId: "getHealth",
        summary: "Whether the server works",
        description:
          "For load balancers, monitors and containers. Needs no key, and tells nothing of anyone.",
        security: [],
        responses: {
          200: {
            description: "It works.",
            content: { "application/json": { schema: ref("Health") } },
          },
          403: errorResponse(403),
          503: {
            description: "A part of it has failed, or it is about to stop; `checks` names it.",
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
  try {
    return await withTimeLimit(check(), PATIENCE, () => "failed" as const);
  } catch {
    return "failed";
  }
}
