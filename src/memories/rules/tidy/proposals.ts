import type { MemoryRow } from "../../model/rows.ts";
import type { OpenTable } from "../../store/pooled-table.ts";
import { nearestTo } from "../similar.ts";
import type { Parts } from "../visible.ts";
import { ALLOWED_ACTIONS, type TidyGroup, type TidyKind } from "./report.ts";

/** Lowest likeness of a memory whose project one may be merged into. */
const NEAR = 0.6;

/** Returns a function that proposes what to do with a group. */
export function createProposals({ clock }: Pick<Parts, "clock">) {
  /** The project that a memory which is alone in its own one is nearest to. */
  const nearestProject = async ({ table }: OpenTable, { id, project }: MemoryRow) => {
    const filter = { isCurrent: true, isCaptured: false, aliveAt: clock() };
    const { nearest } = await nearestTo(table, id, filter);
    const found = nearest.find(
      ({ memory, score }) => score >= NEAR && memory.project !== null && memory.project !== project,
    );
    return found?.memory.project ?? null;
  };

  /** The proposal for a group, and the reason for it. */
  return async (
    open: OpenTable,
    kind: TidyKind,
    rows: readonly MemoryRow[],
  ): Promise<Pick<TidyGroup, "proposal" | "actions" | "reason">> => {
    const [first] = rows;
    const [action = "delete", ...others] = ALLOWED_ACTIONS[kind];
    const keep = first ? { keep: first.id } : {};
    const actions = [action, ...others];
    switch (kind) {
      case "restatements":
        return {
          proposal: { action, ...keep },
          actions,
          reason: `${rows.length} memories say the same.`,
        };
      case "contradictions":
        return {
          proposal: { action, ...keep },
          actions,
          reason: "The newest one changes what the earlier ones say.",
        };
      case "never_found":
        return { proposal: { action }, actions, reason: "No search has found it in 180 days." };
      case "expiring": {
        const day = new Date(first?.expiresAt ?? 0).toISOString().slice(0, 10);
        return { proposal: { action }, actions, reason: `It expires on ${day}.` };
      }
      case "secrets":
        return { proposal: { action }, actions, reason: "It contains what looks like a secret." };
      case "revoked": {
        const by = first?.source?.by ?? "";
        return {
          proposal: { action },
          actions,
          reason: `${by} wrote it, which was revoked or is gone.`,
        };
      }
      case "small_projects": {
        const project = first && (await nearestProject(open, first));
        const reason = `It is alone in the project ${first?.project}.`;
        if (project) return { proposal: { action, project }, actions, reason };
        // No other project is near: it may well stay where it is.
        return { proposal: { action: "pin" }, actions: ["pin", "delete"], reason };
      }
    }
  };
}
