import { Type } from "@sinclair/typebox";
import { AppError } from "../errors.ts";
import type { Principal } from "../http/principal.ts";
import { allows } from "../keys/scopes.ts";
import type { Memories } from "../memories/memories.ts";
import { sourceOf } from "../memories/source.ts";
import { titleOf } from "./memory-text.ts";
import type { Session } from "./session.ts";
import { defineTool, type Tool } from "./tool.ts";
import { clearable, fields } from "./tool-inputs.ts";

const strict = { additionalProperties: false };

/** Memories that say nearly the same or may be outdated, told when one is saved. */
const MOST_SIMILAR = 3;
const SAYS = { near: "says nearly the same", changed: "says something else" };

/** The tools that save, change and delete. */
export function createWritingTools(memories: Memories): Tool[] {
  return [
    defineTool({
      name: "save_memory",
      title: "Save a memory",
      description:
        "Remember what will matter in later conversations: a preference, a decision and why, a fact about people or projects, a correction. Do so unasked. One fact per call, no secrets. If something known has changed, give its id in supersedes.",
      scope: "memories:add",
      annotations: { readOnlyHint: false, destructiveHint: false },
      input: Type.Object(
        {
          content: fields.content,
          tags: Type.Optional(fields.tags),
          importance: Type.Optional(fields.importance),
          agent_id: Type.Optional(fields.agent_id),
          project: Type.Optional(clearable(fields.project)),
          pinned: Type.Optional(fields.pinned),
          expires_at: Type.Optional(fields.expires_at),
          supersedes: Type.Optional(fields.supersedes),
          metadata: Type.Optional(fields.metadata),
        },
        strict,
      ),
      output: Type.Object({ id: Type.String(), created_at: Type.String() }),
      async run(input, session) {
        const { principal, idempotencyKey } = session;
        if (input.supersedes && !allows(principal.scopes, "memories:write")) {
          throw new AppError("forbidden", "To supersede a memory needs the scope memories:write.");
        }
        memories.secrets.refuse(input);
        const mayRead = allows(principal.scopes, "memories:read");
        const source = sourceOf(principal, "mcp");
        const saving = { source, idempotencyKey, mayRead };
        const { memory, isNew } = await memories.save(principal, belonging(input, session), saving);
        const { id, created_at } = memory;
        const saved = { id, created_at };
        if (!isNew) return { text: `Known already, as ${id}.`, data: saved };
        const similar = mayRead ? await describeSimilar(memories, principal, id) : [];
        if (similar.length === 0) return { text: `Saved as ${id}.`, data: saved };
        const list = similar.map((one) => `\n${one.id}: ${one.title} (${SAYS[one.kind]})`).join("");
        const text = `Saved as ${id}. See what is known:${list}`;
        if (!allows(principal.scopes, "memories:write"))
          return { text, data: { ...saved, similar } };
        const hint = `If this says nothing new, delete_memory ${id}. If it takes the place of one, delete_memory ${id} and save it again with supersedes.`;
        return { text: `${text}\n${hint}`, data: { ...saved, similar, hint } };
      },
    }),

    defineTool({
      name: "update_memory",
      title: "Update a memory",
      description:
        "Correct a memory that was wrong or incomplete; for what has changed since, save_memory with supersedes. Fields left out stay.",
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
        { ...strict, minProperties: 2 },
      ),
      output: Type.Object({ id: Type.String(), updated_at: Type.String() }),
      async run({ id, ...changes }, { principal }) {
        memories.secrets.refuse(changes);
        const memory = await memories.update(principal, id, changes, {
          source: sourceOf(principal, "mcp"),
        });
        return { text: `Updated ${id}.`, data: { id, updated_at: memory.updated_at } };
      },
    }),

    defineTool({
      name: "delete_memory",
      title: "Delete a memory",
      description: "Forget a memory for good, when the user asks to; search for all that is meant.",
      scope: "memories:write",
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      input: Type.Object({ id: fields.id }, strict),
      output: Type.Object({ id: Type.String(), deleted: Type.Boolean() }),
      async run({ id }, { principal }) {
        await memories.remove(principal, id);
        return { text: `Deleted ${id} for good.`, data: { id, deleted: true } };
      },
    }),
  ];
}

/** What the call leaves open comes from the session. */
function belonging<
  Input extends { agent_id?: string; project?: string | null; supersedes?: string | null },
>(input: Input, { agentId, project, sessionId }: Session) {
  return {
    ...(agentId !== null && { agent_id: agentId }),
    // What takes the place of another one belongs where that did.
    ...(project !== null && !input.supersedes && { project }),
    ...(sessionId !== null && { session_id: sessionId }),
    ...input,
  };
}

/** Those of them that are still there, with their first line. */
async function describeSimilar(memories: Memories, principal: Principal, id: string) {
  // The memory is saved: what fails from here on must not make the model save it again.
  try {
    const near = (await memories.similar(principal, id)).slice(0, MOST_SIMILAR);
    const found = await Promise.all(near.map(({ id: nearId }) => memories.get(principal, nearId)));
    const kinds = new Map(near.map((each) => [each.id, each.kind]));
    return found.map(({ id: nearId, content }) => ({
      ...{ id: nearId, title: titleOf(content) },
      kind: kinds.get(nearId) ?? "near",
    }));
  } catch {
    return [];
  }
}
