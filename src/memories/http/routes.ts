import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ref, responses } from "../../http/openapi.ts";
import { createBodyReader } from "../../http/requests/body.ts";
import { parseEnd } from "../../text/input-kinds.ts";
import { FoundMemory } from "../model/found-memory.ts";
import { ImportedMemory, Memory, SavedMemory } from "../model/memory.ts";
import { Stats } from "../rules/stats.ts";
import { createForgettingRoutes } from "./forgetting-routes.ts";
import {
  DeletionQuery,
  HistoryQuery,
  ListQuery,
  Move,
  SearchQuery,
  SpaceQuery,
  toExactFilter,
  toVisibleFilter,
} from "./requests.ts";
import { createTransferRoutes } from "./transfer-routes.ts";
import {
  createChangeRoutes,
  createParser,
  createSavingRoutes,
  type Dependencies,
  ETAG,
  MemoryPath,
  signedIn,
} from "./writing-routes.ts";

const Found = Type.Object({ memories: Type.Array(ref("FoundMemory")) });
const Page = Type.Object({
  memories: Type.Array(ref("Memory")),
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: "The `cursor` of the next page; `null` on the last page.",
  }),
});

const Moved = Type.Object({ moved: Type.Integer({ minimum: 0, examples: [3] }) });
/** The most bytes of a move's body: the longest name with each character escaped, and the JSON around it. */
const MAX_MOVE_BODY = 16 << 10;

const SEARCH_MODE = {
  "Ctxd-Search-Mode":
    "The mode that was used: `keyword` instead of `hybrid` while the server loads the model after a start.",
};

/** The HTTP routes of `Memories`: decode, call, respond. */
export function createMemoryRoutes(dependencies: Dependencies) {
  return new Elysia({ prefix: "/memories", tags: ["memories"], normalize: false })
    .model({ Memory, FoundMemory, ImportedMemory, SavedMemory })
    .use(createTransferRoutes(dependencies))
    .use(createForgettingRoutes(dependencies))
    .use(createReadingRoutes(dependencies))
    .use(createMovingRoutes(dependencies))
    .use(createSavingRoutes(dependencies))
    .use(createChangeRoutes(dependencies));
}

function createReadingRoutes({ memories, authorize, etags, room }: Dependencies) {
  return new Elysia({ normalize: false })
    .derive(signedIn(authorize, "memories:read"))
    .mapResponse(({ principal, request, responseValue }) =>
      room.respond(principal, request, responseValue),
    )
    .get(
      "/search",
      async ({ principal, query, set }) => {
        const found = await memories.search(principal, {
          query: query.q,
          limit: Number(query.limit),
          filter: toVisibleFilter(query),
          minScore: Number(query.min_score),
          mode: query.mode,
          known: query.known === "true",
          decay: query.decay === "true",
          explain: query.explain === "true",
        });
        set.headers["ctxd-search-mode"] = found.mode;
        return { memories: found.memories };
      },
      {
        query: SearchQuery,
        detail: {
          operationId: "searchMemories",
          summary: "Find memories by meaning",
          description: "Best first. Equal scores are ordered newest first, then by id.",
          responses: responses({
            status: 200,
            description: "Found.",
            schema: Found,
            headers: SEARCH_MODE,
          }),
        },
      },
    )
    .get(
      "/",
      async ({ principal, query }) => {
        const page = await memories.list(principal, {
          filter: toVisibleFilter(query),
          limit: Number(query.limit),
          cursor: query.cursor,
          order: query.sort,
        });
        return { memories: page.memories, next_cursor: page.nextCursor };
      },
      {
        query: ListQuery,
        detail: {
          operationId: "listMemories",
          summary: "List memories",
          description:
            "Pass `next_cursor` as `cursor` to get the next page. It is null on the last one. Equally important memories are ordered newest first.",
          responses: responses({ status: 200, description: "A page.", schema: Page }),
        },
      },
    )
    .get(
      "/:id",
      async ({ principal, params, set }) => {
        const memory = await memories.get(principal, params.id);
        set.headers.etag = (await etags.maker())(memory);
        return memory;
      },
      {
        params: MemoryPath,
        query: SpaceQuery,
        detail: {
          operationId: "getMemory",
          summary: "Get a memory",
          description:
            "Send its `ETag` as `If-Match` when you change the memory, to avoid lost updates.",
          responses: responses(
            { status: 200, description: "The memory.", schema: ref("Memory"), headers: ETAG },
            404,
          ),
        },
      },
    )
    .get(
      "/:id/history",
      async ({ principal, params, query: { limit, cursor, as_of } }) => {
        const options = { limit: Number(limit), from: cursor, knownAt: parseEnd(as_of) };
        const { memories: found, next } = await memories.history(principal, params.id, options);
        return { memories: found, next_cursor: next };
      },
      {
        params: MemoryPath,
        query: HistoryQuery,
        detail: {
          operationId: "getMemoryHistory",
          summary: "List a memory's history",
          description:
            "The memory with those that it supersedes and that supersede it, newest first.",
          responses: responses({ status: 200, description: "A page.", schema: Page }, 404),
        },
      },
    );
}

/** `POST /memories/move`. */
function createMovingRoutes({ memories, authorize, record }: Dependencies) {
  const parser = createParser(authorize, "memories:write");
  return new Elysia({ normalize: false }).derive(signedIn(authorize, "memories:write")).post(
    "/move",
    async ({ principal, query, body, request }) => {
      const { accountId } = principal;
      const moved = await memories.move(principal, toExactFilter(query), body.project);
      record(request, "memories_moved", { accountId, amount: moved });
      return { moved };
    },
    {
      parse: parser(createBodyReader(Move, MAX_MOVE_BODY)),
      query: DeletionQuery,
      body: Move,
      detail: {
        operationId: "moveMemories",
        summary: "Move all memories that match a filter to a project",
        description:
          "Needs at least one filter. A history is moved as a whole. Times do not change. If the request fails, some memories may have moved: send it again.",
        responses: responses(
          { status: 200, description: "The number of memories that were moved.", schema: Moved },
          413,
          415,
        ),
      },
    },
  );
}

/** `GET /stats`. */
export function createStatsRoutes({
  memories,
  authorize,
}: Pick<Dependencies, "memories" | "authorize">) {
  const routes = new Elysia({ tags: ["memories"], normalize: false }).model({ Stats });
  return routes
    .derive(signedIn(authorize, "memories:read"))
    .get("/stats", ({ principal }) => memories.stats(principal), {
      query: SpaceQuery,
      detail: {
        operationId: "getStats",
        summary: "Count memories",
        description:
          "Counts by tag, agent, project and day, the size on disk, and how far memories have faded.",
        responses: responses({ status: 200, description: "Figures.", schema: ref("Stats") }),
      },
    });
}
