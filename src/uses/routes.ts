import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import { responses } from "../http/openapi.ts";
import type { Authorize } from "../http/principal.ts";
import { checkQueryString } from "../http/requests/validation.ts";
import { instant } from "../text/input-kinds.ts";
import type { createAgentReports } from "./agent-reports.ts";

const time = (description: string) => Type.Union([instant({ description }), Type.Null()]);
const count = (description: string) => Type.Integer({ minimum: 0, description });

const Agents = Type.Object({
  agents: Type.Array(
    Type.Object({
      agent: Type.Union([Type.String(), Type.Null()], {
        description: "The name that it gives itself; `null` if unknown.",
        examples: ["claude-code"],
      }),
      machine: Type.String({
        description: "The name of its key or app, or `this machine` without a key.",
      }),
      last_seen: instant({ description: "Its last activity." }),
      last_capture: time("When it last captured turns; `null` for never."),
      last_recall: time("When it last asked what to recall; `null` for never."),
      brought: count("Memories that it saved or captured in 90 days."),
      of_use: count("Those of them that were found, recalled, opened, changed or superseded."),
      warnings: Type.Array(Type.String(), { description: "What seems to be broken." }),
    }),
  ),
});

/** The answer of `GET /agents`. */
export type AgentList = Static<typeof Agents>;

/** `GET /agents`. */
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
      const { accountId, bound } = await authorize(request, "memories:read");
      if (bound) {
        const message = "A key that is bound to a project can't list the agents of the account.";
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
    {
      detail: {
        operationId: "listAgents",
        summary: "List agents",
        description:
          "What each agent on each machine did in the last 90 days, and whether its capture or recall seems to be broken.",
        responses: responses({ status: 200, description: "The agents.", schema: Agents }),
      },
    },
  );
}
