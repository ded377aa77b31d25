import { Elysia } from "elysia";
import { responses } from "../../http/openapi.ts";
import { createBodyReader } from "../../http/requests/body.ts";
import { text } from "../../text/input-kinds.ts";
import { Forget, FoundAbout, Receipt } from "../model/forgetting.ts";
import { LIMITS } from "../model/memory.ts";
import { flag, query } from "./requests.ts";
import { createParser, type Dependencies, signedIn } from "./writing-routes.ts";

/** The most bytes of a body with ids. */
const MAX_BODY = 64 << 10;

/** The query of `GET /memories/about`. */
const AboutQuery = query({
  q: text(
    {
      minLength: 1,
      maxLength: LIMITS.query,
      description: "A name, or words for a subject.",
      examples: ["Anna"],
    },
    { notBlank: true },
  ),
});

/** The query of `POST /memories/forget`. */
const ForgettingQuery = query({
  wait: flag(
    false,
    "Whether to answer only when the data has left the server's files, some 20 seconds later.",
  ),
});

/** Finding all memories about a person or a subject, and deleting them with a receipt. */
export function createForgettingRoutes({ memories, authorize, record, room }: Dependencies) {
  const parser = createParser(authorize, "memories:write");
  const finding = new Elysia({ normalize: false })
    .derive(signedIn(authorize, "memories:read"))
    .mapResponse(({ principal, request, responseValue }) =>
      room.respond(principal, request, responseValue),
    )
    .get("/about", ({ principal, query }) => memories.about(principal, query.q), {
      query: AboutQuery,
      detail: {
        operationId: "findMemoriesAbout",
        summary: "Find all memories about a person or a subject",
        description:
          "Reads every memory, captured and superseded ones too: those that name it come first, the newest first, then those that may be about it.",
        responses: responses({ status: 200, description: "Found.", schema: FoundAbout }),
      },
    });
  const forgetting = new Elysia({ normalize: false })
    .derive(signedIn(authorize, "memories:write"))
    .post(
      "/forget",
      async ({ principal, body, query, request }) => {
        const receipt = await memories.forget(principal, body);
        const { accountId } = principal;
        record(request, "memories_deleted", { accountId, amount: receipt.deleted });
        return query.wait === "true" ? memories.waitForFiles(principal, receipt) : receipt;
      },
      {
        parse: parser(createBodyReader(Forget, MAX_BODY)),
        query: ForgettingQuery,
        body: Forget,
        detail: {
          operationId: "forgetMemories",
          summary: "Delete memories permanently, with a receipt",
          description:
            "Ids that no memory has are ignored. The receipt has nothing of their content. Needs `memories:read` too.",
          responses: responses({ status: 200, description: "Deleted.", schema: Receipt }, 413, 415),
        },
      },
    );
  return new Elysia({ normalize: false }).use(finding).use(forgetting);
}
