import { LRUCache } from "lru-cache";
import type { Reach } from "../keys/reach.ts";
import type { Filter } from "../memories/filter.ts";
import type { Memories } from "../memories/memories.ts";
import { LIMITS, type Memory } from "../memories/memory.ts";
import { recallText } from "./recall-text.ts";

/** Sessions of which it is remembered what they were told. */
const SESSIONS = 1_000;
/** What is looked at to begin with, and told of it at the most. */
const LOOKED_AT = 100;
const OF_PROJECT = 12;
const OF_PERSON = 6;
const SAID_LAST = 4;
/** What is told to a prompt at the most. */
const TO_PROMPT = 6;

export interface RecallRequest {
  /** The conversation that it is for; null where that is not known: then everything is told again. */
  session: string | null;
  project: string | null;
  /** What people call what is worked on: the project's name, or the folder's where there is none. */
  name: string | null;
  /** What the person asks; null at the beginning of a conversation. */
  prompt: string | null;
  /** Whether the conversation has forgotten what it was told. */
  isFresh: boolean;
  /** Characters of the text. */
  budget: number;
  /**
   * Whether the agent asks by itself as a conversation begins. Then all projects count where it works on
   * none, and while the model is being loaded, what is found by words alone.
   */
  isAsked?: boolean;
}

export type Recall = ReturnType<typeof createRecall>;

/** Tells agents what is known, without being asked: little, nothing twice, and only what is certain enough. */
export function createRecall({
  memories,
  told: tell = () => {},
}: {
  memories: Pick<Memories, "search" | "list">;
  /** Is told of each text: who asked for it, and of which memories it is. */
  told?: (reach: Reach, request: RecallRequest, ids: readonly string[]) => void;
}) {
  const told = new LRUCache<string, Set<string>>({ max: SESSIONS });

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
    // By words alone, while the model is still being loaded, nothing is certain.
    return found.mode === "hybrid" || isAsked ? found.memories : [];
  };

  /** What a conversation begins with. */
  const beginning = async (reach: Reach, { project, name, session, isAsked }: RecallRequest) => {
    const own = { projects: [null], isCaptured: false };
    const here = project === null && isAsked ? {} : { projects: [project] };
    const ofOwn = { filter: own, limit: OF_PERSON, ...(isAsked && { isAsked }) };
    const [ofProject, named, ofPerson, pinned, said] = await Promise.all([
      project === null && !isAsked ? [] : list(reach, { ...here, isCaptured: false }, LOOKED_AT),
      name === null ? [] : search(reach, name, ofOwn),
      search(reach, "preferences of the user", ofOwn),
      list(reach, own, LOOKED_AT),
      list(reach, { ...here, isCaptured: true }, LOOKED_AT),
    ]);
    return [
      ...pinned.filter((memory) => memory.pinned),
      ...ofProject.sort(mostImportantFirst).slice(0, OF_PROJECT),
      ...named,
      ...ofPerson,
      ...lastSaid(said, session),
    ];
  };

  /** What matters for a prompt; what was said in the same conversation is known there. */
  const toPrompt = async (
    reach: Reach,
    prompt: string,
    { project, session, isFresh, isAsked = false }: RecallRequest,
  ) => {
    const filter = project === null && isAsked ? {} : { projects: [project, null] };
    const found = await search(reach, prompt, { filter, limit: 2 * TO_PROMPT, isAsked });
    const isOwn = (memory: Memory) => session !== null && memory.session_id === session;
    return found.filter((memory) => isFresh || !isOwn(memory)).slice(0, TO_PROMPT);
  };

  return {
    /** What is known that matters now, as a text for an agent; empty for nothing. */
    async text(reach: Reach, request: RecallRequest): Promise<string> {
      const { session, prompt, isFresh, isAsked } = request;
      const key = session === null ? null : JSON.stringify([reach.accountId, reach.bound, session]);
      const known = (key === null || isFresh ? null : told.get(key)) ?? null;
      const begins = isAsked || (known === null && (session !== null || prompt === null));
      const [answers, first] = await Promise.all([
        prompt === null || prompt.trim() === "" ? [] : toPrompt(reach, prompt, request),
        begins ? beginning(reach, request) : [],
      ]);
      const wanted = new Map([...answers, ...first].map((memory) => [memory.id, memory]));
      for (const id of known ?? []) wanted.delete(id);
      const { text, ids } = recallText([...wanted.values()], request);
      if (key !== null) told.set(key, new Set([...(known ?? []), ...ids]));
      tell(reach, request, ids);
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

/** What the person said last, in the conversation before this one. @param said newest first */
function lastSaid(said: readonly Memory[], session: string | null): Memory[] {
  const others = said.filter((memory) => session === null || memory.session_id !== session);
  const before = others[0]?.session_id;
  return others
    .filter(({ session_id, metadata }) => session_id === before && metadata.role === "user")
    .slice(0, SAID_LAST)
    .reverse();
}
