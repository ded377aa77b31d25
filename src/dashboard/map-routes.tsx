/** @jsxRuntime automatic @jsxImportSource #pages */

import { Elysia } from "elysia";
import { tellError } from "../http/errors.ts";
import { createPagedStream } from "../http/paged-stream.ts";
import { requestId } from "../http/request-id.ts";
import { wholeAccount } from "../keys/reach.ts";
import type { Log } from "../log.ts";
import { GROUPINGS, type Grouping } from "../memories/map/groups.ts";
import { idOnMap, type MemoryMap } from "../memories/map/map.ts";
import type { Memories } from "../memories/memories.ts";
import { MEMORY_ID, type Memory } from "../memories/memory.ts";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Problem } from "../pages/notice.tsx";
import { pageResponse } from "../pages/page-response.ts";
import { streamPage } from "../pages/streamed-page.ts";
import { withTimeLimit } from "../time-limit.ts";
import { type Guard, PAGE_ROUTE } from "./guard.tsx";
import { EmptyMap, MAP_PATHS, MapIsDrawn, MapOfMemories, MapPage } from "./map-page.tsx";
import { PATHS } from "./navigation.tsx";

/** Milliseconds after which a page says that it waits for the map. */
const PATIENCE = 100;
/** Texts that are asked for at once, and characters of each. */
const MOST_TEXTS = 64;
const TOLD = 240;

/** The map of memories, and what its script asks for. */
export function createMapRoutes({
  guard,
  memories,
  log,
}: {
  guard: Guard;
  memories: Pick<Memories, "map" | "some">;
  log: Log;
}) {
  async function* parts(accountId: string, wanted: string | null, id: string) {
    const reach = wholeAccount(accountId);
    const content = async (): Promise<Markup> => {
      try {
        const map = await memories.map(reach);
        if (map.total === 0) return <EmptyMap />;
        const middles = map.topics.flatMap(({ typical }) => typical);
        const typical = await memories.some(
          reach,
          middles.map((point) => idOnMap(map, point)),
        );
        return <MapOfMemories map={map} by={groupingOf(wanted, map)} typical={typical} />;
      } catch (error) {
        return <Problem>{tellError(error, { log, id }).told}</Problem>;
      }
    };
    const drawn = content();
    const inTime = await withTimeLimit(drawn, PATIENCE, () => null);
    if (inTime === null) yield <MapIsDrawn />;
    yield inTime ?? (await drawn);
  }

  return new Elysia()
    .get(
      PATHS.map,
      ({ request, server }) =>
        guard.show(request, (visit) => {
          // Others may have to be drawn first, and an idle connection does not live long. That of who is
          // not signed in is not to stay: Bun keeps it open for good.
          server?.timeout(request, 0);
          const wanted = visit.url.searchParams.get("by");
          const content = parts(visit.account.id, wanted, requestId(request));
          const encoder = new TextEncoder();
          const page = createPagedStream(streamPage(<MapPage visit={visit} />, content), (part) =>
            encoder.encode(part),
          );
          const headers = { "x-accel-buffering": "no" };
          return pageResponse(page, { headers, scripts: true });
        }),
      PAGE_ROUTE,
    )
    .get(
      MAP_PATHS.points,
      ({ request, server }) =>
        guard.show(request, async ({ account, url }) => {
          server?.timeout(request, 0);
          const version = url.searchParams.get("version");
          return Response.json(encoded(await memories.map(wholeAccount(account.id), version)));
        }),
      PAGE_ROUTE,
    )
    .get(
      MAP_PATHS.texts,
      ({ request }) =>
        guard.show(request, async ({ account, url }) => {
          const ids = (url.searchParams.get("ids") ?? "").split(",").slice(0, MOST_TEXTS);
          const found = await memories.some(
            wholeAccount(account.id),
            ids.filter((id) => MEMORY_ID.test(id)),
          );
          return Response.json({ memories: found.map(told) });
        }),
      PAGE_ROUTE,
    );
}

/** What the colours stand for: what was asked for, or what tells memories apart. */
function groupingOf(wanted: string | null, { groups }: MemoryMap): Grouping {
  const asked = GROUPINGS.find((each) => each === wanted);
  return asked ?? GROUPINGS.find((each) => groups[each].named.length > 0) ?? "project";
}

/** A map as its script takes it: numbers as the base64 of their bytes, the low ones first. */
function encoded({ ids, places, topicOf, topics, groups }: MemoryMap) {
  const base64 = ({ buffer, byteOffset, byteLength }: Uint8Array | Uint16Array) =>
    Buffer.from(buffer, byteOffset, byteLength).toString("base64");
  const masks = GROUPINGS.map((each) => [each, base64(groups[each].masks)]);
  return {
    ids: base64(ids),
    places: base64(places),
    topicOf: base64(topicOf),
    topics: topics.map(({ words, x, y }) => ({ words, x, y })),
    masks: Object.fromEntries(masks),
  };
}

function told({ id, content, project, tags, agent_id, created_at }: Memory) {
  const text = [...content.slice(0, 2 * TOLD)].slice(0, TOLD).join("");
  const facts = [project, ...tags.slice(0, 3), agent_id].filter((fact) => fact !== null);
  return { id, text: text.length < content.length ? `${text}…` : text, facts, created_at };
}
