import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ref, responses } from "../http/openapi.ts";
import type { Authorize } from "../http/principal.ts";
import { checkQueryString } from "../http/query.ts";
import type { Memories } from "./memories.ts";
import { Stats } from "./stats.ts";

/** `GET /stats`. */
export function createStatsRoutes({
  memories,
  authorize,
}: {
  memories: Pick<Memories, "stats">;
  authorize: Authorize;
}) {
  return new Elysia({ tags: ["memories"], normalize: false }).model({ Stats }).get(
    "/stats",
    ({ request }) => {
      const { accountId } = authorize(request, "memories:read");
      checkQueryString(request);
      return memories.stats(accountId);
    },
    {
      query: Type.Object({}, { additionalProperties: false }),
      detail: {
        operationId: "getStats",
        summary: "Count memories",
        description: "By tag, agent and day, with their size on disk and how far they have faded.",
        responses: responses(
          { status: 200, description: "Figures.", schema: ref("Stats") },
          400,
          422,
        ),
      },
    },
  );
}
