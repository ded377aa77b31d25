import { personOf, type Reach } from "../keys/reach.ts";
import type { Memories } from "../memories/rules/memories.ts";
import type { Action, Kind } from "./action.ts";
import type { Activity } from "./activity.ts";

type PartialAction = Pick<Action, "kind"> & Partial<Action>;

/**
 * Wraps the memories so that every change is recorded in the activity of its account. Only the id of a memory is recorded, so that
 * nothing of a deleted memory remains. The agent is the one that the connection names.
 */
export function withActivity(memories: Memories, activity: Pick<Activity, "record">): Memories {
  const record = (reach: Reach, action: PartialAction) => activity.record(toAction(reach, action));

  /** The same call, recorded with the number of memories that it returns. */
  const counted =
    <Rest extends unknown[]>(kind: Kind, call: (reach: Reach, ...rest: Rest) => Promise<number>) =>
    async (reach: Reach, ...rest: Rest): Promise<number> => {
      const amount = await call(reach, ...rest);
      if (amount > 0) record(reach, { kind, memories: amount });
      return amount;
    };

  return {
    ...memories,
    move: counted("changed", memories.move),
    moveThese: counted("changed", memories.moveThese),
    markDistilled: counted("changed", memories.markDistilled),
    remove: counted("deleted", memories.remove),
    removeMatching: counted("deleted", memories.removeMatching),

    async forget(reach, wanted) {
      const receipt = await memories.forget(reach, wanted);
      if (receipt.deleted > 0) record(reach, { kind: "deleted", memories: receipt.deleted });
      return receipt;
    },

    async saveAll(reach, inputs, saving) {
      const made = await memories.saveAll(reach, inputs, saving);
      const last = made.at(-1);
      const saved = { memories: made.length, memoryId: last?.id ?? null };
      record(reach, { kind: "saved", ...saved });
      return made;
    },

    async save(reach, input, saving) {
      const saved = await memories.save(reach, input, saving);
      if (saved.isNew) record(reach, { kind: "saved", memoryId: saved.memory.id });
      return saved;
    },

    async update(reach, id, ...rest) {
      const memory = await memories.update(reach, id, ...rest);
      record(reach, { kind: "changed", memoryId: id });
      return memory;
    },

    async import(reach, lines, options) {
      const report = await memories.import(reach, lines, options);
      const amount = options.dryRun ? 0 : report.created + report.updated;
      const kind = options.source?.via === "capture" ? "captured" : "imported";
      if (amount > 0) record(reach, { kind, memories: amount });
      return report;
    },
  };
}

/**
 * Wraps the memories so that every search is recorded: as one action, wherever it has looked, and as the person's own even
 * in a space, because others must not read what somebody asks.
 */
export function withSearchActivity(
  memories: Memories,
  activity: Pick<Activity, "record">,
): Memories {
  return {
    ...memories,

    async search(reach, request) {
      const answer = await memories.search(reach, request);
      if (request.isTyped) return answer;
      const own = { ...reach, accountId: personOf(reach) };
      const action: PartialAction = {
        kind: "searched",
        memories: answer.memories.length,
        memoryId: answer.memories[0]?.id ?? null,
        query: request.query,
      };
      activity.record(toAction(own, action));
      return answer;
    },
  };
}

/** Makes a function that records each recall as one action. */
export function recordRecalls(activity: Pick<Activity, "record">) {
  return (reach: Reach, { prompt }: { prompt: string | null }, ids: readonly string[]): void => {
    const [memoryId = null] = ids;
    const found = { memories: ids.length, memoryId, query: prompt };
    const own = { ...reach, accountId: personOf(reach) };
    activity.record(toAction(own, { kind: "recalled", ...found }));
  };
}

/** Completes an action with its account, source and agent. */
function toAction({ accountId, credential, agentId = null }: Reach, action: PartialAction): Action {
  const source = credential ?? { id: accountId, by: "" };
  return { accountId, source, agent: agentId, memories: 1, memoryId: null, query: null, ...action };
}
