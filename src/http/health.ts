import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { version } from "../../package.json" with { type: "json" };
import { withTimeLimit } from "../timing/time-limit.ts";
import type { Drain } from "./load/drain.ts";
import { errorDescription, ref } from "./openapi.ts";

/**
 * `ok`, or the problem. Four states are not failures: `loading`, for which requests wait; `late`, work
 * that is overdue and not needed to serve; `changing`, during which the old data is served; and
 * `unreachable`, during which local data is served and other requests are refused.
 */
export type CheckResult =
  | "ok"
  | "loading"
  | "late"
  | "unreachable"
  | "failed"
  | `changing, ${number} % done`;

/** Milliseconds that a check may take. `ctxd health` waits for 5 s. */
const TIMEOUT_MS = 3_000;

/** The parts that the server needs, each with its check, which returns null if the server does without the part. */
export type Checks = Readonly<Record<string, () => CheckResult | null | Promise<CheckResult>>>;

const Health = Type.Object({
  status: Type.Union([Type.Literal("ok"), Type.Literal("failed")]),
  version: Type.String({ examples: [version] }),
  checks: Type.Record(Type.String(), Type.String(), {
    examples: [{ database: "ok", memories: "ok", disk: "ok", embedding: "ok" }],
  }),
});

const Liveness = Type.Object({
  status: Type.Literal("ok"),
  version: Type.String({ examples: [version] }),
});

/** The answer of a server that is about to stop. */
const STOPPING = { status: "failed", version, checks: { server: "stopping" } };

/**
 * `GET /health` for load balancers, monitors and people, and `GET /health/live` for programs that
 * restart a server that hangs. Neither needs a key or reveals anything private.
 */
export function createHealthRoutes(checks: Checks, drain: Pick<Drain, "isStopping">) {
  return new Elysia({ tags: ["server"] })
    .model({ Health, Life: Liveness })
    .get(
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
            "For load balancers, monitors and containers. Needs no key and reveals nothing private.",
          security: [],
          responses: {
            200: { description: "It works.", content: json("Health") },
            403: errorDescription(403),
            503: {
              description:
                "A part of the server has failed, or the server is about to stop; `checks` names the part.",
              content: json("Health"),
            },
          },
        },
      },
    )
    .get("/health/live", () => ({ status: "ok", version }), {
      detail: {
        operationId: "getLife",
        summary: "Whether the server answers at all",
        description:
          "For programs that restart a server that hangs, such as Kubernetes. It does not use the database, so that no server is restarted when the database is unreachable.",
        security: [],
        responses: {
          200: { description: "It answers.", content: json("Life") },
          403: errorDescription(403),
        },
      },
    });
}

function json(name: "Health" | "Life") {
  return { "application/json": { schema: ref(name) } };
}

/** The result of each check, within a few seconds. */
export async function runChecks(checks: Checks): Promise<Record<string, CheckResult>> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await run(check)] as const),
  );
  return Object.fromEntries(
    results.flatMap(([name, result]) => (result === null ? [] : [[name, result]])),
  );
}

/** A check that does not finish counts as failed, for example when a disk hangs. */
async function run(check: Checks[string]): Promise<CheckResult | null> {
  try {
    return await withTimeLimit(check(), TIMEOUT_MS, () => "failed" as const);
  } catch {
    return "failed";
  }
}
