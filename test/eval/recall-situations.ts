import { join } from "node:path";
import { createRecall } from "../../src/capture/recall.ts";
import { createId } from "../../src/db/id.ts";
import { turnOf } from "../../src/import/transcripts/turn.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import type { TestServer } from "../support/server.ts";
import type { Half } from "./own-sets.ts";
import type { Figure } from "./table.ts";

const DAY = 86_400_000;
const BUDGET = 4_000;
/** Groups of memories that come from one import each. */
const VIAS = ["mcp", "import", "capture"] as const;

interface RecallSet {
  memories: {
    id: string;
    content: string;
    project: string | null;
    via: (typeof VIAS)[number];
    days_ago: number;
    pinned?: boolean;
    importance?: number;
    tags?: string[];
    session?: string;
    role?: "user" | "assistant";
  }[];
  situations: Situation[];
}

/** A moment of a conversation, with the memories that should come then and those that may. */
export interface Situation {
  kind: "begin" | "prompt";
  project: string | null;
  prompt?: string;
  should: string[];
  may: string[];
}

export interface Recalled extends Situation {
  ids: string[];
  text: string;
}

export async function readSituations(half: Half): Promise<RecallSet> {
  return await Bun.file(join(import.meta.dir, `own/recall-${half}.json`)).json();
}

/**
 * Fills an account with the memories of a set, each with its source and time.
 * @returns the ids of the set by those of the account
 */
export async function fillAccount(
  server: TestServer,
  accountId: string,
  memories: RecallSet["memories"],
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  const now = server.clock();
  const oldestFirst = memories.toSorted((a, b) => b.days_ago - a.days_ago);
  for (const via of VIAS) {
    const lines = oldestFirst
      .filter((memory) => memory.via === via)
      .map(({ id: name, via: _, days_ago, session, role, ...rest }, number) => {
        const createdAt = now - days_ago * DAY + number * 1_000;
        const id = createId("mem", createdAt);
        names.set(id, name);
        const memory = { id, ...rest, created_at: new Date(createdAt).toISOString() };
        const turn = { text: memory.content, id, session, agent: "eval", createdAt };
        return {
          number,
          memory: {
            ...memory,
            ...(session && { session_id: session }),
            ...(role && { content: turnOf({ role, ...turn }).content, metadata: { role } }),
          },
        };
      });
    await server.memories.import(wholeAccount(accountId), each(lines), {
      source: { via, by: "eval", id: `key_${via}` },
      dryRun: false,
      stillAllowed: async () => {},
    });
  }
  return names;
}

/** What is recalled in each situation, by the ids of the set. */
export async function recallAll(
  server: TestServer,
  { memories, situations }: RecallSet,
): Promise<Recalled[]> {
  const { accountId } = await server.account();
  const reach = wholeAccount(accountId);
  const names = await fillAccount(server, accountId, memories);
  let recalled: readonly string[] = [];
  const recall = createRecall({
    memories: server.memories,
    onRecall: (_, __, found) => {
      recalled = found;
    },
  });
  const results: Recalled[] = [];
  for (const situation of situations) {
    const text = await recall.text(reach, {
      session: null,
      project: situation.project,
      name: situation.project,
      prompt: situation.kind === "prompt" ? (situation.prompt ?? "") : null,
      isFresh: true,
      budget: BUDGET,
    });
    results.push({ ...situation, text, ids: recalled.map((id) => names.get(id) ?? "") });
  }
  return results;
}

/** Of what was recalled the share that was right, and of what should have come the share that did. */
export function recallMeasures(results: readonly Recalled[]) {
  let [recalled, right, wanted, found] = [0, 0, 0, 0];
  for (const { ids, should, may } of results) {
    recalled += ids.length;
    right += ids.filter((id) => should.includes(id) || may.includes(id)).length;
    wanted += should.length;
    found += should.filter((id) => ids.includes(id)).length;
  }
  return {
    recalled,
    precision: right / Math.max(1, recalled),
    recall: found / Math.max(1, wanted),
  };
}

/** What is recalled at beginnings and for prompts, of the half that only judges. */
export async function recallFigures(server: TestServer): Promise<Figure[]> {
  const all = await recallAll(server, await readSituations("held"));
  return (["begin", "prompt"] as const).flatMap((kind) => {
    const own = all.filter((one) => one.kind === kind);
    const { precision, recall } = recallMeasures(own);
    const group = `recalled at a ${kind} (${own.length})`;
    return [
      { group, name: "right of what came", value: precision },
      { group, name: "came of what should", value: recall },
    ];
  });
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
