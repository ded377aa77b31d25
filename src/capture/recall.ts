import { LRUCache } from "lru-cache";
import type { Reach } from "../keys/reach.ts";
import type { Filter } from "../memories/filter.ts";
import type { Memories } from "../memories/memories.ts";
import { LIMITS, type Memory } from "../memories/memory.ts";
import { recallText } from "./recall-text.ts";

/** Sessions whose recalled memories are remembered. */
const MAX_SESSIONS = 1_000;
/** Newest memories among which those for the beginning of a conversation are chosen. */
const CANDIDATES = 100;
/** At most this many memories of each kind at the beginning of a conversation. */
const MAX_OF_PROJECT = 12;
const MAX_OF_USER = 6;
const MAX_LAST_TURNS = 4;
/** At most this many memories for a prompt. */
const MAX_FOR_PROMPT = 6;

export interface RecallRequest {
  /** The conversation; null when unknown: then memories are repeated. */
  session: string | null;
  project: string | null;
  /** The name by which people call the project; that of the folder when there is no project. */
  name: string | null;
  /** What the user asks; null at the beginning of a conversation. */
  prompt: string | null;
  /** Whether the agent's context was cleared, so that memories may be repeated. */
  isFresh: boolean;
  /** Characters of the text. */
  budget: number;
  /**
   * Whether the agent itself asks, at the beginning of a conversation. Then memories of all projects
   * count when there is no current one, and so do results by words only, while the model still loads.
   */
  isAsked?: boolean;
}

export type Recall = ReturnType<typeof createRecall>;

/**
 * Gives agents the memories that matter, without a search by the agent: few, none twice in a
 * conversation, and only above the score floor.
 */
export function createRecall({
  memories,
  onRecall = () => {},
}: {
  memories: Pick<Memories, "search" | "list">;
  /** Called for each text, with the ids of its memories. */
  onRecall?: (reach: Reach, request: RecallRequest, ids: readonly string[]) => void;
}) {
  /** Ids of the memories that each session has received. */
  const received = new LRUCache<string, Set<string>>({ max: MAX_SESSIONS });

  const list = async (reach: Reach, filter: Filter, limit: number) =>
    (await memories.list(reach, { filter: { ...filter, isCurrent: true }, limit })).memories;

  const search = async (
    reach: Reach,
    query: string,
    { filter, limit, isAsked = false }: { filter: Filter; limit: number; isAsked?: boolean },
  ) => {
    const found = await memories.search(reach, {
      query: [...query].slice(0, LIMITS.query).join(""),
      limit,
      filter: { ...filter, isCurrent: true },
      minScore: 0,
      mode: "hybrid",
      known: true,
    });
    // While the model still loads, results are by words only, which is not reliable enough.
    return found.mode === "hybrid" || isAsked ? found.memories : [];
  };

  /** The memories for the beginning of a conversation. */
  const forBeginning = async (reach: Reach, { project, name, session, isAsked }: RecallRequest) => {
    const withoutProject = { projects: [null], isCaptured: false };
    const inProject = project === null && isAsked ? {} : { projects: [project] };
    const options = { filter: withoutProject, limit: MAX_OF_USER, ...(isAsked && { isAsked }) };
    const [ofProject, named, ofUser, pinned, captured] = await Promise.all([
      project === null && !isAsked
        ? []
        : list(reach, { ...inProject, isCaptured: false }, CANDIDATES),
      name === null ? [] : search(reach, name, options),
      search(reach, "preferences of the user", options),
      list(reach, withoutProject, CANDIDATES),
      list(reach, { ...inProject, isCaptured: true }, CANDIDATES),
    ]);
    return [
      ...pinned.filter((memory) => memory.pinned),
      ...ofProject.sort(mostImportantFirst).slice(0, MAX_OF_PROJECT),
      ...named,
      ...ofUser,
      ...lastTurnsOfUser(captured, session),
    ];
  };

  /** The memories for a prompt, without turns of the same conversation: the agent knows those. */
  const forPrompt = async (
    reach: Reach,
    prompt: string,
    { project, session, isFresh, isAsked = false }: RecallRequest,
  ) => {
    const filter = project === null && isAsked ? {} : { projects: [project, null] };
    const found = await search(reach, prompt, { filter, limit: 2 * MAX_FOR_PROMPT, isAsked });
    const isOwn = (memory: Memory) => session !== null && memory.session_id === session;
    return found.filter((memory) => isFresh || !isOwn(memory)).slice(0, MAX_FOR_PROMPT);
  };

  return {
    /** The memories that matter now, as a text for an agent; empty when there are none. */
    async text(reach: Reach, request: RecallRequest): Promise<string> {
      const { session, prompt, isFresh, isAsked } = request;
      const key = session === null ? null : JSON.stringify([reach.accountId, reach.bound, session]);
      const known = (key === null || isFresh ? null : received.get(key)) ?? null;
      const isBeginning = isAsked || (known === null && (session !== null || prompt === null));
      const [answers, general] = await Promise.all([
        prompt === null || prompt.trim() === "" ? [] : forPrompt(reach, prompt, request),
        isBeginning ? forBeginning(reach, request) : [],
      ]);
      const wanted = new Map([...answers, ...general].map((memory) => [memory.id, memory]));
      for (const id of known ?? []) wanted.delete(id);
      const { text, ids } = recallText([...wanted.values()], request);
      if (key !== null) received.set(key, new Set([...(known ?? []), ...ids]));
      onRecall(reach, request, ids);
      return text;
    },
  };
}

function mostImportantFirst(a: Memory, b: Memory): number {
  return (
    Number(b.pinned) - Number(a.pinned) ||
    b.importance - a.importance ||
    Date.parse(b.created_at) - Date.parse(a.created_at)
  );
}

/** What the user said last in the previous conversation. @param captured newest first */
function lastTurnsOfUser(captured: readonly Memory[], session: string | null): Memory[] {
  const others = captured.filter((memory) => session === null || memory.session_id !== session);
  const previous = others[0]?.session_id;
  return others
    .filter(({ session_id, metadata }) => session_id === previous && metadata.role === "user")
    .slice(0, MAX_LAST_TURNS)
    .reverse();
}
