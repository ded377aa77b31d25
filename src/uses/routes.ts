import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import type { Authorize } from "../http/principal.ts";
import { checkQueryString } from "../http/requests/validation.ts";
import type { createAgentReports } from "./agent-reports.ts";

/** The answer of `GET /agents`. Times are ISO texts; null for never. */
export interface AgentList {
  agents: {
    /** Null if unknown. */
    agent: string | null;
    /** The name of the key or app; `this machine` without one. */
    machine: string;
    last_seen: string;
    last_capture: string | null;
    last_recall: string | null;
    /** Memories that it saved, captured or imported in 90 days, and those of them that were of use since; null if that is not counted. */
    brought: number;
    of_use: number | null;
    /** What seems to be broken. */
    warnings: readonly string[];
  }[];
}

/** `GET /agents`, for `ctxd status`. */
export function createAgentRoutes({
  reportAgents,
  authorize,
}: {
  reportAgents: ReturnType<typeof createAgentReports>;
  authorize: Authorize;
}) {
  return new Elysia({ tags: ["memories"], normalize: false }).get(
    "/agents",
    async ({ request }): Promise<AgentList> => {
      checkQueryString(request);
      const { accountId, via } = await authorize(request, "memories:read");
      // As the page of the activity, which tells what other keys and apps do.
      if (via !== "local" && via !== "session") {
        const message = "Keys and apps can't list the agents of the account: run ctxd status.";
        throw new AppError("forbidden", message);
      }
      const states = await reportAgents(accountId);
      return {
        agents: states.map(({ lastSeen, lastCapture, lastRecall, ofUse, ...state }) => ({
          ...{ agent: state.agent, machine: state.machine },
          last_seen: lastSeen.toISOString(),
          last_capture: lastCapture?.toISOString() ?? null,
          last_recall: lastRecall?.toISOString() ?? null,
          ...{ brought: state.brought, of_use: ofUse, warnings: state.warnings },
        })),
      };
    },
    { detail: { hide: true } },
  );
}
