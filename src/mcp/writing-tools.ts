import { Type } from "@sinclair/typebox";
import { PERSONAL } from "../accounts/space.ts";
import type { Principal } from "../http/principal.ts";
import { hasScope } from "../keys/reach.ts";
import type { Memory } from "../memories/model/memory.ts";
import { type Similar, sourceOf } from "../memories/model/memory.ts";
import { DISTILLED_DAYS } from "../memories/rules/distilling.ts";
import type { Memories } from "../memories/rules/memories.ts";
import { firstLineOf, formatDate } from "../text/short-text.ts";
import { placeText } from "./memory-text.ts";
import { defineTool, type Session, type Tool } from "./tool.ts";
import { clearable, fields } from "./tool-inputs.ts";

/** Similar memories that are listed when one is saved. */
const MAX_SIMILAR = 3;
const SIMILARITY = {
  near: "says nearly the same",
  changed: "says something else, and may be outdated",
  superseded: "said the same, and was replaced by ",
};

/** The tools that save, update and delete memories. */
export function createWritingTools(memories: Memories): Tool[] {
  return [
    defineTool({
      name: "save_memory",
      title: "Save a memory",
      description:
        "Remember what will matter in later conversations: a preference, a decision and its reason, a fact about people or projects, a correction. Do so unasked. One fact per call, no secrets. If a known fact has changed, give its id in supersedes.",
      scope: "memories:add",
      annotations: { readOnlyHint: false, destructiveHint: false },
      input: Type.Object({
        content: fields.content,
        tags: Type.Optional(fields.tags),
        importance: Type.Optional(fields.importance),
        agent_id: Type.Optional(fields.agent_id),
        project: Type.Optional(clearable(fields.project)),
        pinned: Type.Optional(fields.pinned),
        expires_at: Type.Optional(fields.expires_at),
        supersedes: Type.Optional(fields.supersedes),
        metadata: Type.Optional(fields.metadata),
      }),
      space: `Its members read it. Default: the one of the project, else "${PERSONAL}"`,
      output: Type.Object({ id: Type.String(), created_at: Type.String() }),
      async run(input, session) {
        const { principal, idempotencyKey } = session;
        const saving = { source: sourceOf(principal, "mcp"), idempotencyKey };
        const complete = withSessionFields(input, session);
        const {
          memory,
          isNew,
          distilled = null,
        } = await memories.save(principal, complete, saving);
        const { id, created_at, space } = memory;
        const where = placeText(memory);
        const turns = distilled === null ? null : describeDistilled(distilled);
        const saved = { id, created_at, ...(space && { space }), ...(turns && { turns }) };
        const first = isNew
          ? `Saved as ${id}${where}${where && ": its members see it"}.`
          : `Already known${where}, as ${id}.`;
        const text = turns === null ? first : `${first} ${turns}`;
        if (!isNew) return { text, data: saved };
        const mayRead = hasScope(principal, "memories:read");
        const similar = mayRead ? await describeSimilar(memories, principal, id) : [];
        if (similar.length === 0) return { text, data: saved };
        const list = similar.map(
          ({ id, title, kind, replaced_by = "" }) =>
            `\n${id}: ${title} (${SIMILARITY[kind]}${replaced_by})`,
        );
        const withSimilar = `${text} Similar memories:${list.join("")}`;
        if (!hasScope(principal, "memories:write")) {
          return { text: withSimilar, data: { ...saved, similar } };
        }
        const hint = adviceOn(memory, similar);
        return { text: `${withSimilar}\n${hint}`, data: { ...saved, similar, hint } };
      },
    }),

    defineTool({
      name: "update_memory",
      title: "Update a memory",
      description:
        "Memory that was wrong or incomplete: correct it. For a fact that has changed, use save_memory with supersedes. Omitted fields stay.",
      scope: "memories:write",
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      input: Type.Object(
        {
          id: fields.id,
          content: Type.Optional({ ...fields.content, description: "The whole new text" }),
          tags: Type.Optional(fields.tags),
          importance: Type.Optional(fields.newImportance),
          project: Type.Optional(clearable(fields.project)),
          pinned: Type.Optional(fields.pinned),
          expires_at: Type.Optional(clearable(fields.expires_at)),
          metadata: Type.Optional(fields.metadata),
        },
        { minProperties: 2 },
      ),
      output: Type.Object({ id: Type.String(), updated_at: Type.String() }),
      async run({ id, ...changes }, { principal }) {
        const memory = await memories.update(principal, id, changes, {
          source: sourceOf(principal, "mcp"),
        });
        const { updated_at, space } = memory;
        const data = { id, updated_at, ...(space && { space }) };
        return { text: `Updated ${id}${placeText(memory)}.`, data };
      },
    }),

    defineTool({
      name: "delete_memory",
      title: "Delete a memory",
      description:
        "Forget a memory, permanently, when the user asks to. Search first for all that is meant.",
      scope: "memories:write",
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      input: Type.Object({ id: fields.id }),
      output: Type.Object({ id: Type.String(), deleted: Type.Boolean() }),
      async run({ id }, { principal }) {
        await memories.remove(principal, id);
        return { text: `Deleted ${id} permanently.`, data: { id, deleted: true } };
      },
    }),
  ];
}

/** What the metadata of a saved memory has done to captured turns. */
function describeDistilled(count: number): string {
  return count === 0
    ? "No turns were marked as distilled: the metadata names no captured turns that may be changed from here, the first one and the last one."
    : `${count} turns are distilled, and expire within ${DISTILLED_DAYS} days.`;
}

/** Fills fields that the call omits from the session. */
function withSessionFields<
  Input extends { agent_id?: string; project?: string | null; supersedes?: string | null },
>(input: Input, { agentId, project, sessionId }: Session) {
  return {
    ...(agentId !== null && { agent_id: agentId }),
    // A memory that supersedes another one gets the project of that one.
    ...(project !== null && !input.supersedes && { project }),
    ...(sessionId !== null && { session_id: sessionId }),
    ...input,
  };
}

/** What to do about similar memories. A changed fact is never a reason to delete the new memory. */
function adviceOn(
  { id, supersedes }: Memory,
  similar: readonly { id: string; kind: Similar["kind"] }[],
): string {
  const [first] = similar;
  const changed = similar.find(({ kind }) => kind === "changed");
  // A memory supersedes one other memory.
  if (changed && supersedes !== null) {
    return `It supersedes ${supersedes} already. If ${changed.id} no longer holds either, delete_memory ${changed.id}.`;
  }
  if (changed) {
    return `If it replaces ${changed.id}, call save_memory again with the same content and supersedes: "${changed.id}"; nothing is saved twice.`;
  }
  return first?.kind === "superseded"
    ? "If it holds again, save it with supersedes of what replaced it; otherwise delete it."
    : `If the new memory says nothing new, delete_memory ${id}.`;
}

/** The memories that are most similar to a saved one, with their titles; none when that fails. */
async function describeSimilar(memories: Memories, principal: Principal, savedId: string) {
  // Not `get`, which counts as a use.
  const read = async (id: string) => {
    const memory = await memories.find(principal, id);
    if (!memory) throw new Error("it was deleted meanwhile");
    return memory;
  };
  // The memory is saved. An error here must not make the model save it again.
  try {
    const similar = (await memories.similar(principal, savedId)).slice(0, MAX_SIMILAR);
    return await Promise.all(
      similar.map(async ({ id, kind, superseded_by = "" }) => {
        const { content } = await read(id);
        const title = firstLineOf(content);
        if (kind !== "superseded") return { id, title, kind };
        const { created_at } = await read(superseded_by);
        return { id, title, kind, replaced_by: `${superseded_by} on ${formatDate(created_at)}` };
      }),
    );
  } catch {
    return [];
  }
}
