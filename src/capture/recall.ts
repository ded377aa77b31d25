import { LRUCache } from "lru-cache";
import { personOf, type Reach } from "../keys/reach.ts";
import type { Filter } from "../memories/model/filter.ts";
import type { FoundMemory } from "../memories/model/found-memory.ts";
import { LIMITS, type Memory } from "../memories/model/memory.ts";
import { readAsked } from "../memories/ranking/versions/asked-attribute.ts";
import type { Memories } from "../memories/rules/memories.ts";
import { reachesOf } from "../spaces/with-spaces.ts";
import { createPause } from "../timing/pause.ts";
import {
  isEmptyTalk,
  isPreference,
  isTalk,
  MIN_CHANCE,
  type Recallable,
  recallChance,
  recallSigns,
  recallText,
} from "./recall-text.ts";
import { byImportance, preferencesOfUser } from "./ways-of-working.ts";

/** Sessions whose recalled memories are remembered. */
const MAX_SESSIONS = 1_000;
/** Newest memories among which those for the beginning of a conversation are chosen. */
const CANDIDATES = 100;
/** At most this many memories of each kind at the beginning of a conversation. */
const MAX_OF_PROJECT = 12;
const MAX_OF_USER = 10;
/** The same with those tagged as preferences: somebody wants them in each conversation. */
const MAX_WITH_TAGGED = 20;
const MAX_NAMED = 4;
const MAX_LAST_TURNS = 2;
/** At most this many memories for a prompt, and the results among which they are chosen. */
const MAX_FOR_PROMPT = 6;
const FOUND_FOR_PROMPT = 20;

/**
 * Searches by words only after which recall gives up on a model that is being loaded. Each has waited for it half a second.
 */
const MAX_VAIN_SEARCHES = 10;

interface RecallRequest {
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
  /** Whether each line says why it is there. */
  explains?: boolean;
}

/** A request, with the number of its searches that came before the model was loaded. */
type Asked = RecallRequest & { vain: { searches: number } };

export type Recall = ReturnType<typeof createRecall>;

/**
 * Gives agents the memories that matter, without a search by the agent: few, none twice in a
 * conversation, and only above the score floor.
 */
export function createRecall({
  memories,
  onRecall = () => {},
}: {
  memories: Pick<Memories, "search" | "list" | "outdatedAmong">;
  /** Called for each text, with the ids of its memories. */
  onRecall?: (reach: Reach, request: RecallRequest, ids: readonly string[]) => void;
}) {
  /** Ids of the memories that each session has received. */
  const received = new LRUCache<string, Set<string>>({ max: MAX_SESSIONS });

  /** The newest memories of the caller, and of the spaces in which the project lives. */
  const list = async (reach: Reach, filter: Filter): Promise<Memory[]> => {
    const options = { filter: { ...filter, isCurrent: true }, limit: CANDIDATES };
    const pause = createPause();
    const all: Memory[] = [];
    for (const each of reachesOf(reach, filter)) {
      await pause();
      all.push(...(await memories.list(each, options)).memories);
    }
    return all.sort(newestFirst).slice(0, CANDIDATES);
  };

  const search = async (
    reach: Reach,
    query: string,
    { filter, limit }: { filter: Filter; limit: number },
    { isAsked, vain }: Asked,
  ): Promise<FoundMemory[]> => {
    for (;;) {
      const found = await memories.search(reach, {
        query: firstCharacters(query),
        limit,
        filter: { ...filter, isCurrent: true },
        explain: true,
        merges: true,
      });
      if (found.mode === "hybrid" || isAsked) return found.memories;
      // While the model still loads, results are by words only, which is not reliable enough.
      if (++vain.searches > MAX_VAIN_SEARCHES) return [];
    }
  };

  const latest = createLatest(memories);

  /** The memories for the beginning of a conversation. Talk comes only if it is of the project, or names it. */
  const forBeginning = async (reach: Reach, request: Asked): Promise<Recallable[]> => {
    const { project, name, session, isAsked } = request;
    const withoutProject = { projects: [null], isCaptured: false };
    const inProject = project === null && isAsked ? {} : { projects: [project] };
    /** Each list looks at all memories: other requests run in between. */
    const lists = async () => {
      const pause = createPause();
      const pinned = await list(reach, withoutProject);
      await pause();
      const ofProject =
        project === null && !isAsked ? [] : await list(reach, { ...inProject, isCaptured: false });
      await pause();
      const captured = await list(reach, { ...inProject, isCaptured: true });
      return { pinned, ofProject, captured };
    };
    const [named, preferences, { pinned, ofProject: saved, captured }] = await Promise.all([
      name === null
        ? []
        : search(reach, name, { filter: withoutProject, limit: MAX_OF_USER }, request),
      preferencesOfUser((query) =>
        search(reach, query, { filter: withoutProject, limit: CANDIDATES }, request),
      ),
      lists(),
    ]);
    const ofProject = await latest(reach, saved);
    const ofUser = (await latest(reach, preferences.slice(0, CANDIDATES))).filter(
      (memory, place) => place < (isPreference(memory) ? MAX_WITH_TAGGED : MAX_OF_USER),
    );
    const because = (why: string) => (memory: Memory | FoundMemory) => ({ memory, why });
    return [
      ...pinned.filter((memory) => memory.pinned).map(because("pinned")),
      ...ofProject
        .filter((memory) => project !== null || !isTalk(memory))
        .sort(mostImportantFirst)
        .slice(0, MAX_OF_PROJECT)
        .map(because("of this project")),
      ...ofUser.map(because("how you want agents to work")),
      ...named
        .filter(({ content }) => name !== null && hasWord(content, name))
        .slice(0, MAX_NAMED)
        .map(because("names the project")),
      ...lastTurns(captured, session).map(because("said last in this project")),
    ];
  };

  /** The memories for a prompt, without turns of the same conversation: the agent knows those. */
  const forPrompt = async (reach: Reach, prompt: string, request: Asked): Promise<Recallable[]> => {
    const { project, session, isFresh, isAsked } = request;
    const filter = project === null && isAsked ? {} : { projects: [project, null] };
    const found = await search(reach, prompt, { filter, limit: FOUND_FOR_PROMPT }, request);
    const isOwn = (memory: Memory) => session !== null && memory.session_id === session;
    const asked = readAsked(prompt);
    // The version that holds is the first of those that tell what is asked.
    const told = asked
      .telling(found.map((memory) => ({ memory })))
      .find(({ memory }) => asked.toldBy(memory) === "asked");
    return found
      .flatMap((memory, place): (Recallable & { chance: number })[] => {
        if (isEmptyTalk(memory) || (isOwn(memory) && !isFresh)) return [];
        if (memory === told?.memory) return [{ memory, why: "tells what is asked", chance: 1 }];
        const signs = recallSigns(prompt, project, found, place);
        const chance = signs ? recallChance(signs) : 0;
        const why = `answers the prompt, with a chance of ${Math.round(100 * chance)} %`;
        return chance >= MIN_CHANCE ? [{ memory, why, chance }] : [];
      })
      .sort((a, b) => b.chance - a.chance)
      .slice(0, MAX_FOR_PROMPT);
  };

  return {
    /** The memories that matter now, as a text for an agent; empty when there are none. */
    async text(reach: Reach, request: RecallRequest): Promise<string> {
      const { session, prompt, isFresh, isAsked } = request;
      // Two members of a space may give their sessions the same name.
      const whose = [personOf(reach), reach.accountId, reach.bound];
      const key = session === null ? null : JSON.stringify([...whose, session]);
      const known = (key === null || isFresh ? null : received.get(key)) ?? null;
      const isBeginning = isAsked || (known === null && (session !== null || prompt === null));
      const asked = { ...request, vain: { searches: 0 } };
      const [answers, general] = await Promise.all([
        prompt === null || prompt.trim() === ""
          ? []
          : forPrompt(reach, firstCharacters(prompt), asked),
        isBeginning ? forBeginning(reach, asked) : [],
      ]);
      const { text, ids } = recallText(withoutRepeats([...answers, ...general], known), request);
      if (key !== null) received.set(key, new Set([...(known ?? []), ...ids]));
      onRecall(reach, request, ids);
      return text;
    },
  };
}

/** Makes a function that leaves out those memories that a later one of them restates or changes. */
function createLatest({ outdatedAmong }: Pick<Memories, "outdatedAmong">) {
  return async <Kind extends Memory>(reach: Reach, all: readonly Kind[]): Promise<Kind[]> => {
    const ids = all.map(({ id }) => id);
    const outdated = new Set<string>();
    for (const each of reachesOf(reach, {})) {
      for (const id of await outdatedAmong(each, ids)) outdated.add(id);
    }
    return all.filter(({ id }) => !outdated.has(id));
  };
}

/** Each memory once, and none that the conversation has received. */
function withoutRepeats(
  recalled: readonly Recallable[],
  received: ReadonlySet<string> | null,
): Recallable[] {
  const seen = new Set(received);
  return recalled.filter(({ memory }) => {
    const isNew = !seen.has(memory.id);
    seen.add(memory.id);
    return isNew;
  });
}

/** As many characters as a query may have. A prompt may be a megabyte long. */
function firstCharacters(text: string): string {
  // A character has at most two UTF-16 units.
  return [...text.slice(0, 2 * LIMITS.query)].slice(0, LIMITS.query).join("");
}

function hasWord(content: string, name: string): boolean {
  const words: readonly string[] = content.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? [];
  return words.includes(name.toLowerCase());
}

function mostImportantFirst(a: Memory, b: Memory): number {
  return byImportance(a, b) || newestFirst(a, b);
}

function newestFirst(a: Memory, b: Memory): number {
  return Date.parse(b.created_at) - Date.parse(a.created_at);
}

/** What was said last in the previous conversation. @param captured newest first */
function lastTurns(captured: readonly Memory[], session: string | null): Memory[] {
  const others = captured.filter((memory) => session === null || memory.session_id !== session);
  const previous = others[0]?.session_id;
  return others
    .filter(({ session_id }) => session_id === previous)
    .slice(0, MAX_LAST_TURNS)
    .reverse();
}
