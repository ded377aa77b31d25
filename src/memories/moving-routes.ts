import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { createBodyReader } from "../http/body.ts";
import { responses } from "../http/openapi.ts";
import { checkQueryString } from "../http/query.ts";
import { DeletionQuery, Move, toExactFilter } from "./requests.ts";
import type { Dependencies } from "./writing-routes.ts";

/** Bytes of a body: the longest name, each character escaped, and what is around. */
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
      const principal = await authorize(request, "memories:write");
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
          // A hundred thousand take longer than an idle connection may live.
          server?.timeout(request, 0);
          return readMove(request);
        },
        query: DeletionQuery,
        body: Move,
        detail: {
          operationId: "moveMemories",
          summary: "Move all memories that pass a filter to a project",
          description:
            "At least one filter is needed. Histories are moved as a whole. They are as old as before. When it fails, some are moved: send it again.",
          responses: responses(
            { status: 200, description: "How many there were elsewhere.", schema: Moved },
            400,
            413,
            415,
            422,
          ),
        },
      },
    );
}
