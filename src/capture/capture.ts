import type { Principal } from "../http/principal.ts";
import { convert } from "../import/convert-memory.ts";
import type { ProjectOf } from "../import/transcripts/folders.ts";
import { type Turn, timeOf, turnMemory } from "../import/transcripts/turn.ts";
import { type ImportedMemory, sourceOf } from "../memories/model/memory.ts";
import { projectToWrite } from "../memories/model/reach.ts";
import type { ImportLine } from "../memories/rules/import/import.ts";
import type { Memories } from "../memories/rules/memories.ts";
import { createPause } from "../timing/pause.ts";
import { captureNewTurns, type ProgressFiles } from "./progress.ts";
import { type Conversation, createPlacing, KEPT_DAYS } from "./requests.ts";

const DAY = 86_400_000;

/** How the prompts begin that give an agent work on the memories themselves. They quote turns, and are not captured. */
export const OWN_PROMPT =
  "A task for the user's long-term memory (ctxd), which the user has asked for:";

/** The caller for whom turns are saved. */
interface Caller {
  principal: Principal;
  /** Rejects when the caller may no longer write. */
  stillAllowed: () => Promise<void>;
}

export type Capture = ReturnType<typeof createCapture>;

/**
 * Saves the turns of conversations with agents, each turn once, with secrets masked.
 * @param projectOf the project of a folder on this machine
 * @param clock milliseconds since 1970
 */
export function createCapture({
  memories,
  progress,
  projectOf,
  clock,
}: {
  memories: Pick<Memories, "import" | "secrets">;
  progress: ProgressFiles;
  projectOf: ProjectOf;
  clock: () => number;
}) {
  /** The last capture of each transcript. Two captures at the same time would split a turn. */
  const running = new Map<string, Promise<unknown>>();

  /** @param after the time of the previous turn, in milliseconds since 1970 */
  const save = async (
    { principal, stillAllowed }: Caller,
    conversation: Conversation,
    turns: readonly Turn[],
    after: number,
  ): Promise<{ captured: number; last: number }> => {
    const { agent, kept_days = KEPT_DAYS } = conversation;
    // A caller that is bound to a project may name no other.
    const placeOf = createPlacing(
      principal.bound
        ? { ...conversation, project: projectToWrite(principal, conversation.project) }
        : conversation,
      projectOf,
    );
    const now = clock();
    const expiresAt =
      kept_days === null ? null : endOfDay(now + kept_days * DAY, principal.accountId);
    const lines: ImportLine[] = [];
    let last = after;
    // Masking secrets in a turn of up to a megabyte takes time: other requests run in between.
    const pause = createPause();
    for (const turn of turns) {
      await pause();
      if (turn.text.trimStart().startsWith(OWN_PROMPT)) continue;
      const { project, session } = await placeOf(turn);
      const source = turnMemory(agent, {
        ...turn,
        session,
        text: await memories.secrets.mask(turn.text),
      });
      for (const memory of convert(agent, source).memories) {
        // Distinct times keep the order of turns with equal times, and of the parts of one turn.
        last = Math.max(timeOf(turn.at) ?? now, last + 1);
        lines.push({
          number: lines.length + 1,
          memory: toCaptured(memory, { project, expiresAt, at: last }),
        });
      }
    }
    const report = await memories.import({ ...principal, agentId: agent }, toAsync(lines), {
      source: sourceOf(principal, "capture"),
      dryRun: false,
      stillAllowed,
    });
    return { captured: report.created, last };
  };

  const readNewTurns = async (caller: Caller, path: string, conversation: Conversation) => {
    const { accountId } = caller.principal;
    const { folder = null } = conversation;
    let captured = 0;
    await captureNewTurns({ progress, accountId, path, folder }, async (turns, after) => {
      const saved = await save(caller, conversation, turns, after);
      captured += saved.captured;
      return saved.last;
    });
    return captured;
  };

  return {
    /** Saves turns that a client sends. Returns how many memories were new. */
    async turns(caller: Caller, conversation: Conversation, turns: readonly Turn[]) {
      return (await save(caller, conversation, turns, 0)).captured;
    },

    /**
     * Saves the turns that were added to a transcript since its last capture. Returns how many memories
     * were new.
     * @throws the system's error when the file can't be read
     */
    async transcript(caller: Caller, conversation: Conversation, path: string): Promise<number> {
      const key = JSON.stringify([caller.principal.accountId, path]);
      const previous = running.get(key) ?? Promise.resolve();
      const read = previous.catch(() => {}).then(() => readNewTurns(caller, path, conversation));
      running.set(key, read);
      try {
        return await read;
      } finally {
        if (running.get(key) === read) running.delete(key);
      }
    },
  };
}

function toCaptured(
  { project: _, ...memory }: ImportedMemory,
  { project, expiresAt, at }: { project: string | null; expiresAt: string | null; at: number },
): ImportedMemory {
  return {
    ...memory,
    created_at: new Date(at).toISOString(),
    ...(project !== null && { project }),
    ...(expiresAt !== null && { expires_at: expiresAt }),
  };
}

/**
 * Rounds up to the end of a day: all turns of a day expire together, because deleting them takes a
 * rewrite. The day ends at a different time for each account, which spreads the rewrites.
 */
function endOfDay(at: number, accountId: string): string {
  const start = Bun.hash.crc32(accountId) % DAY;
  return new Date(start + Math.ceil((at - start) / DAY) * DAY).toISOString();
}

async function* toAsync<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
