import { AppError } from "../errors.ts";
import { type Reach, requireScope } from "../keys/reach.ts";
import type { Memories } from "../memories/rules/memories.ts";
import type { TidySources } from "../memories/rules/tidy/groups.ts";
import type {
  TidyAction,
  TidyGroup,
  TidyKind,
  TidyOutcome,
  TidyReport,
  TidyRequest,
} from "../memories/rules/tidy/report.ts";
import type { TidyPart } from "../undo/change.ts";
import type { Undoable } from "../undo/undoable.ts";

/** Milliseconds until a memory expires that nothing has found. */
const EXPIRES_AFTER_MS = 30 * 86_400_000;

/** A page of what there is to tidy. */
interface TidyQuestion {
  kind?: TidyKind | undefined;
  limit: number;
  cursor?: string | undefined;
}

export type Tidy = ReturnType<typeof createTidy>;

/**
 * Tidying: what could be tidied in an account, and doing it, undoable for ten seconds.
 * @param clock milliseconds since 1970
 * @param sources what tidying asks other parts
 */
export function createTidy({
  memories,
  undoable,
  clock,
  sources,
}: {
  memories: Pick<Memories, "tidyReport" | "tidyGroups" | "likenessCounts">;
  undoable: Pick<Undoable, "applyLater" | "list" | "undo">;
  clock: () => number;
  sources: TidySources;
}) {
  /** What both calls ask: memories of pending changes are left out. */
  const asking = async ({ accountId }: Reach) => {
    const pending = await undoable.list(accountId);
    return { sources, except: pending.flatMap(({ change }) => change.ids) };
  };

  return {
    /** @throws AppError `validation_failed` for a wrong cursor */
    async report(reach: Reach, question: TidyQuestion): Promise<TidyReport> {
      requireScope(reach, "memories:read");
      return await memories.tidyReport(reach, { ...question, ...(await asking(reach)) });
    },

    /** Some counts of a report, without the search for secrets that the others wait for. */
    async likenessCounts(reach: Reach) {
      requireScope(reach, "memories:read");
      return await memories.likenessCounts(reach, await asking(reach));
    },

    /**
     * Applies proposals in ten seconds, unless they are undone.
     * @throws AppError `conflict` if a group has changed, `validation_failed` for an action that a group does not
     *   allow, `forbidden`, or `rate_limited` when 20 changes are pending
     */
    async apply(
      reach: Reach,
      { groups: wanted, dry_run = false }: TidyRequest,
    ): Promise<TidyOutcome> {
      requireScope(reach, "memories:read");
      requireScope(reach, "memories:write");
      const ids = wanted.map(({ id }) => id);
      const at = clock();
      const groups = await memories.tidyGroups(reach, ids, await asking(reach));
      checkDisjoint(groups);
      const expiresAt = new Date(at + EXPIRES_AFTER_MS).toISOString();
      const parts = groups.flatMap((group, place) =>
        partsFor(group, wanted[place]?.action ?? group.proposal.action, expiresAt),
      );
      const outcome = outcomeOf(parts);
      const changed = [...new Set(parts.flatMap((part) => part.ids))];
      if (dry_run || changed.length === 0) return { ...outcome, undo: null };
      const change = { kind: "tidy" as const, ids: changed, bound: reach.bound, at, parts };
      return { ...outcome, undo: await undoable.applyLater(reach, change) };
    },

    /** Cancels what `apply` is about to do. Returns false if it is too late. */
    undo: (reach: Reach, id: string): Promise<boolean> => undoable.undo(reach, id),
  };
}

/** Several actions on one memory would depend on their order. @throws AppError `validation_failed` */
function checkDisjoint(groups: readonly TidyGroup[]): void {
  const ids = groups.flatMap(({ memories }) => memories.map(({ id }) => id));
  if (new Set(ids).size === ids.length) return;
  throw new AppError(
    "validation_failed",
    "Two of these groups have a memory in common. Apply one of them, then read the groups again.",
  );
}

/** The changes that an action makes of a group. @throws AppError `validation_failed` */
function partsFor(
  { kind, memories, proposal, actions }: TidyGroup,
  action: TidyAction,
  expiresAt: string,
): TidyPart[] {
  if (!actions.includes(action)) {
    throw new AppError("validation_failed", `A group of ${kind} does not allow ${action}.`);
  }
  const { keep, project } = proposal;
  const ids = memories.map(({ id }) => id).filter((id) => id !== keep);
  switch (action) {
    case "supersede":
      return keep === undefined ? [] : [{ kind: "supersede", keep, ids }];
    case "delete":
      return [{ kind: "delete", ids, keep }];
    case "pin":
      return [{ kind: "set", ids, fields: { pinned: true, expires_at: null } }];
    case "expire": {
      // What expires anyway is left to expire.
      const lasting = memories.filter(({ expires_at }) => expires_at === null);
      const fields = { expires_at: expiresAt };
      return lasting.length === 0
        ? []
        : [{ kind: "set", ids: lasting.map(({ id }) => id), fields }];
    }
    case "merge":
      return project === undefined ? [] : [{ kind: "move", ids, project }];
  }
}

/** Counts what the changes do. */
function outcomeOf(parts: readonly TidyPart[]): Omit<TidyOutcome, "undo"> {
  const count = (isCounted: (part: TidyPart) => boolean | undefined) =>
    parts.filter(isCounted).reduce((sum, { ids }) => sum + ids.length, 0);
  return {
    superseded: count(({ kind }) => kind === "supersede"),
    deleted: count(({ kind }) => kind === "delete"),
    pinned: count((part) => part.kind === "set" && part.fields.pinned),
    expiring: count((part) => part.kind === "set" && !part.fields.pinned),
    moved: count(({ kind }) => kind === "move"),
  };
}
