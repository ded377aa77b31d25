import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { allowLongWork } from "../../http/load/turns.ts";
import { responses } from "../../http/openapi.ts";
import { givenUp } from "../../http/principal.ts";
import { createBodyReader } from "../../http/requests/body.ts";
import { checkQueryString } from "../../http/requests/validation.ts";
import { DeletionQuery, Move, toExactFilter } from "./requests.ts";
import type { Dependencies } from "./writing-routes.ts";

/** The most bytes of a body: the longest name with each character escaped, and the JSON around it. */
const MAX_BODY = 16 << 10;

const Moved = Type.Object({ moved: Type.Integer({ minimum: 0, examples: [3] }) });

/** `POST /memories/move`. */
export function createMovingRoutes({
  memories,
  authorize,
  record,
}: Pick<Dependencies, "memories" | "authorize" | "record">) {
  const readMove = createBodyReader(Move, MAX_BODY);

  return new Elysia({ normalize: false })
    .derive(async ({ request }) => {
      const principal = givenUp(await authorize(request, "memories:write"), request);
      checkQueryString(request);
      return { principal };
    })
    .post(
      "/move",
      async ({ principal, query, body, request }) => {
        const { accountId } = principal;
        const moved = await memories.move(principal, toExactFilter(query), body.project);
        record(request, "memories_moved", { accountId, amount: moved });
        return { moved };
      },
      {
        parse: async ({ request, server }) => {
          await authorize(request, "memories:write");
          // Moving 100,000 memories takes longer than the server keeps an idle connection.
          allowLongWork(request, server);
          return readMove(request);
        },
        query: DeletionQuery,
        body: Move,
        detail: {
          operationId: "moveMemories",
          summary: "Move all memories that match a filter to a project",
          description:
            "Needs at least one filter. A history is moved as a whole. Times do not change. If the request fails, some memories may have moved: send it again.",
          responses: responses(
            { status: 200, description: "The number of memories that were moved.", schema: Moved },
            400,
            413,
            415,
            422,
          ),
        },
      },
    );
}
