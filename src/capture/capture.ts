import type { Principal } from "../http/principal.ts";
import { convert } from "../import/convert-memory.ts";
import { openTranscript } from "../import/transcripts/read-transcript.ts";
import { BEGINNING, momentOf, type Turn } from "../import/transcripts/turn.ts";
import { turnMemory } from "../import/transcripts/turn-memory.ts";
import { problemOf } from "../input-kinds.ts";
import type { ImportLine } from "../memories/import.ts";
import type { Memories } from "../memories/memories.ts";
import { type ImportedMemory, Project, SessionId } from "../memories/memory.ts";
import { projectToWrite } from "../memories/reach.ts";
import { createPause } from "../pause.ts";
import type { ProgressStore } from "./progress.ts";

const DAY = 86_400_000;
/** Days after which a captured turn is forgotten. */
export const KEPT_DAYS = 90;
/** Turns that are saved before the place is remembered. */
const BATCH = 32;

/** Whose conversation it is, and what becomes of its turns. */
export interface Conversation {
  /** The agent, as in `ctxd connect`. */
  agent: string;
  session: string | null;
  /** The project that turns belong to; that of the folder when it is undefined. */
  project: string | null | undefined;
  /** The folder that the agent worked in, where a turn does not say. */
  folder: string | null;
  /** Days after which the turns are forgotten; null for never. */
  keptDays: number | null;
}

/** On whose behalf turns are saved. */
export interface Writer {
  principal: Principal;
  /** Throws what ends it. */
  stillAllowed: () => Promise<void>;
}

export type Capture = ReturnType<typeof createCapture>;

/**
 * Saves what is said in conversations with agents, each turn once, with secrets masked.
 * @param projectOf the project of a folder of this machine
 * @param clock milliseconds since 1970
 */
export function createCapture({
  memories,
  progress,
  projectOf,
  clock,
}: {
  memories: Pick<Memories, "import" | "secrets">;
  progress: ProgressStore;
  projectOf: (folder: string) => string | null;
  clock: () => number;
}) {
  /** The last reading of each transcript: two side by side would split a turn. */
  const underWay = new Map<string, Promise<unknown>>();

  /** @param after the time of the turn before, in milliseconds since 1970 */
  const save = async (
    { principal, stillAllowed }: Writer,
    conversation: Conversation,
    turns: readonly Turn[],
    after: number,
  ): Promise<{ captured: number; last: number }> => {
    const { bound, credential } = principal;
    // Who is bound to a project may name no other.
    const named =
      bound === null ? conversation.project : projectToWrite(principal, conversation.project);
    const now = clock();
    const expiresAt =
      conversation.keptDays === null
        ? null
        : endOfDay(now + conversation.keptDays * DAY, principal.accountId);
    const lines: ImportLine[] = [];
    let last = after;
    // Secrets are looked for in up to a megabyte each: others have their turn between.
    const pause = createPause();
    for (const turn of turns) {
      await pause();
      const folder = turn.folder ?? conversation.folder;
      const found = named === undefined && folder !== null ? projectOf(folder) : (named ?? null);
      const project = usable(Project, found);
      const session = usable(SessionId, turn.session ?? conversation.session);
      const said = turnMemory(conversation.agent, {
        ...turn,
        session,
        text: memories.secrets.mask(turn.text),
      });
      for (const memory of convert(conversation.agent, said).memories) {
        // Turns of equal times, and parts of one, keep their order.
        last = Math.max(momentOf(turn.at) ?? now, last + 1);
        lines.push({
          number: lines.length + 1,
          memory: toCaptured(memory, { project, expiresAt, at: last }),
        });
      }
    }
    const agent = { agentId: conversation.agent };
    const report = await memories.import({ ...principal, ...agent }, each(lines), {
      source: { via: "capture", ...credential },
      dryRun: false,
      mayRead: true,
      stillAllowed,
    });
    return { captured: report.created, last };
  };

  const readOn = async (writer: Writer, path: string, conversation: Conversation) => {
    const { accountId } = writer.principal;
    const known = await progress.find(accountId, path);
    const from = known && { ...known, folder: conversation.folder };
    const reading = await openTranscript(path, from ?? BEGINNING);
    if (!reading) return 0;
    let [captured, last] = [0, known?.at ?? 0];
    const put = async (batch: readonly Turn[]) => {
      if (batch.length > 0) {
        const saved = await save(writer, conversation, batch, last);
        captured += saved.captured;
        last = saved.last;
      }
      const { folder: _, ...place } = reading.place();
      await progress.put(accountId, path, place);
    };
    let batch: Turn[] = [];
    for await (const turn of reading.turns) {
      batch.push(turn);
      if (batch.length < BATCH) continue;
      await put(batch);
      batch = [];
    }
    await put(batch);
    return captured;
  };

  return {
    /** Saves turns that a client gives, and returns how many were new. */
    async turns(writer: Writer, conversation: Conversation, turns: readonly Turn[]) {
      return (await save(writer, conversation, turns, 0)).captured;
    },

    /**
     * Saves what is new in a transcript since it was captured last, and returns how many turns that is.
     * @throws what the system says of a file that can't be read
     */
    async transcript(writer: Writer, conversation: Conversation, path: string): Promise<number> {
      const key = JSON.stringify([writer.principal.accountId, path]);
      const before = underWay.get(key) ?? Promise.resolve();
      const read = before.catch(() => {}).then(() => readOn(writer, path, conversation));
      underWay.set(key, read);
      try {
        return await read;
      } finally {
        if (underWay.get(key) === read) underWay.delete(key);
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
 * The end of a day: its turns are forgotten in one go, since each time takes a rewrite. It comes at
 * another time for each account, so that not all are due at once.
 */
function endOfDay(at: number, accountId: string): string {
  const start = Bun.hash.crc32(accountId) % DAY;
  return new Date(start + Math.ceil((at - start) / DAY) * DAY).toISOString();
}

/** Null for what would not be taken as such a field. */
function usable(schema: typeof Project, value: string | null): string | null {
  return value !== null && problemOf(schema, value) === null ? value : null;
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
