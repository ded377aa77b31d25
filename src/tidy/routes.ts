import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import { responses } from "../http/openapi.ts";
import { createBodyReader } from "../http/requests/body.ts";
import { limit, query, SpaceQuery } from "../memories/http/requests.ts";
import { createParser, type Dependencies, signedIn } from "../memories/http/writing-routes.ts";
import {
  MAX_TIDIED,
  TidyKindSchema,
  TidyOutcome,
  TidyReport,
  TidyRequest,
} from "../memories/rules/tidy/report.ts";
import type { Tidy } from "./tidy.ts";

/** The most bytes of a body: some 500 for each group. */
const MAX_BODY = 512 * MAX_TIDIED;

const TidyQuery = query({
  kind: Type.Optional(TidyKindSchema),
  limit: limit(20),
  cursor: Type.Optional(
    Type.String({ maxLength: 200, description: "`next_cursor` of the previous page." }),
  ),
});
const Undone = Type.Object({ undone: Type.Literal(true) });
const UndoQuery = query({
  undo: Type.String({ minLength: 1, maxLength: 128, description: "`undo` of the answer." }),
});

/** `GET` and `POST /memories/tidy`, and undoing. */
export function createTidyRoutes({
  tidy,
  authorize,
  room,
  record,
}: Pick<Dependencies, "authorize" | "room" | "record"> & { tidy: Tidy }) {
  return new Elysia({ prefix: "/memories/tidy", tags: ["memories"], normalize: false })
    .use(createReportRoute({ tidy, authorize, room }))
    .use(createApplyRoutes({ tidy, authorize, record }));
}

function createReportRoute({
  tidy,
  authorize,
  room,
}: Pick<Dependencies, "authorize" | "room"> & { tidy: Tidy }) {
  return new Elysia({ normalize: false })
    .derive(signedIn(authorize, "memories:read"))
    .mapResponse(({ principal, request, responseValue }) =>
      room.respond(principal, request, responseValue),
    )
    .get(
      "/",
      ({ principal, query: { kind, limit, cursor } }) =>
        tidy.report(principal, { kind, limit: Number(limit), cursor }),
      {
        query: TidyQuery,
        detail: {
          operationId: "getTidyReport",
          summary: "List what could be tidied",
          description:
            "Groups of memories that say the same, contradict each other, were never found, expire soon, contain secrets, come from revoked keys, or are alone in a project, each with a proposal. Memories are compared in the background, some time after they are saved. Captured turns are not compared.",
          responses: responses({ status: 200, description: "The report.", schema: TidyReport }),
        },
      },
    );
}

function createApplyRoutes({
  tidy,
  authorize,
  record,
}: Pick<Dependencies, "authorize" | "record"> & { tidy: Tidy }) {
  const parser = createParser(authorize, "memories:write");
  return new Elysia({ normalize: false })
    .derive(signedIn(authorize, "memories:write"))
    .post(
      "/",
      async ({ principal, body, request }) => {
        const outcome = await tidy.apply(principal, body);
        const { accountId } = principal;
        const isDone = outcome.undo !== null && outcome.deleted > 0;
        if (isDone) record(request, "memories_deleted", { accountId, amount: outcome.deleted });
        return outcome;
      },
      {
        parse: parser(createBodyReader(TidyRequest, MAX_BODY)),
        query: SpaceQuery,
        body: TidyRequest,
        detail: {
          operationId: "applyTidyProposals",
          summary: "Apply proposals of a tidy report",
          description:
            "Applies the proposed or another allowed `action` of each group, ten seconds later. Until then it can be undone. If one of the groups has changed, nothing is applied. Needs `memories:read` too.",
          responses: responses(
            { status: 200, description: "What changes.", schema: TidyOutcome },
            409,
            413,
            415,
          ),
        },
      },
    )
    .delete(
      "/",
      async ({ principal, query: { undo } }) => {
        if (await tidy.undo(principal, undo)) return { undone: true };
        throw new AppError("conflict", "It is too late to undo this change.");
      },
      {
        query: UndoQuery,
        detail: {
          operationId: "undoTidying",
          summary: "Undo what was applied, within ten seconds",
          responses: responses({ status: 200, description: "Undone.", schema: Undone }, 409),
        },
      },
    );
}
