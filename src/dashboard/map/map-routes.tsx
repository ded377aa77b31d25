/** @jsxRuntime automatic @jsxImportSource #pages */
import { describeError } from "../../http/errors.ts";
import { allowLongWork } from "../../http/load/turns.ts";
import { requestId } from "../../http/observer.ts";
import type { Reach } from "../../keys/reach.ts";
import { GROUPINGS, type Grouping } from "../../memories/map/groups.ts";
import { MEMORY_ID, type Memory } from "../../memories/model/memory.ts";
import { idOnMap, type MemoryMap } from "../../memories/rules/map.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Problem } from "../../pages/layout.tsx";
import { streamedPage } from "../../pages/page-response.tsx";
import { withTimeLimit } from "../../timing/time-limit.ts";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { EmptyMap, MAP_PATHS, MapOfMemories, MapPage, MapPending } from "./map-page.tsx";

/** Milliseconds after which the page says that the map is being drawn. */
const NOTICE_AFTER_MS = 100;
/** Texts in one request, and characters of each. */
const MAX_TEXTS = 64;
const MAX_CHARACTERS = 240;

/** The page of the map, and the data that its script requests. */
export function addMapPage({ pages, memories, log }: Parts): void {
  async function* parts(reach: Reach, wanted: string | null, id: string) {
    const content = async (): Promise<Markup> => {
      try {
        const map = await memories.map(reach);
        if (map.total === 0) return <EmptyMap />;
        const middles = map.topics.flatMap(({ typical }) => typical);
        const typical = await memories.byIds(
          reach,
          middles.map((point) => idOnMap(map, point)),
        );
        return <MapOfMemories map={map} by={groupingOf(wanted, map)} typical={typical} />;
      } catch (error) {
        return <Problem>{describeError(error, { log, id }).message}</Problem>;
      }
    };
    const drawn = content();
    const inTime = await withTimeLimit(drawn, NOTICE_AFTER_MS, () => null);
    if (inTime === null) yield <MapPending />;
    yield inTime ?? (await drawn);
  }

  pages.get(PATHS.map, (visit, _, server) => {
    const { request, url } = visit;
    // Drawing may take longer than the time limit of idle connections, as other maps may come first. Only connections
    // of people who are signed in get no limit: Bun would never close them.
    server?.timeout(request, 0);
    const content = parts(reachOf(visit), url.searchParams.get("by"), requestId(request));
    return streamedPage(<MapPage visit={visit} />, content);
  });
  pages.get(MAP_PATHS.points, async (visit, _, server) => {
    allowLongWork(visit.request, server);
    const version = visit.url.searchParams.get("version");
    return Response.json(encodeMap(await memories.map(reachOf(visit), version)));
  });
  pages.get(MAP_PATHS.texts, async ({ url, reach }) => {
    const ids = (url.searchParams.get("ids") ?? "").split(",").slice(0, MAX_TEXTS);
    const found = await memories.byIds(
      reach,
      ids.filter((id) => MEMORY_ID.test(id)),
    );
    return Response.json({ memories: found.map(textOf) });
  });
}

/** The person's memories, until the person leaves. */
function reachOf({ reach, request }: Visit): Reach {
  return { ...reach, signal: request.signal };
}

/** The grouping that was asked for, or else the first one with a named group. */
function groupingOf(wanted: string | null, { groups }: MemoryMap): Grouping {
  const asked = GROUPINGS.find((each) => each === wanted);
  return asked ?? GROUPINGS.find((each) => groups[each].named.length > 0) ?? "project";
}

/** The data of a map for the script. Numbers are base64 of their bytes, little-endian. */
function encodeMap({ ids, places, topicOf, topics, groups }: MemoryMap) {
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

function textOf({ id, content, project, tags, agent_id, created_at }: Memory) {
  const text = [...content.slice(0, 2 * MAX_CHARACTERS)].slice(0, MAX_CHARACTERS).join("");
  const facts = [project, ...tags.slice(0, 3), agent_id].filter((fact) => fact !== null);
  return { id, text: text.length < content.length ? `${text}…` : text, facts, created_at };
}
