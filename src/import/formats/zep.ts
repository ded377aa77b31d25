import { isObject, type JsonObject } from "../../text/parse-json.ts";
import { readEntries, readObjects } from "../files/json-document.ts";
import { objectsOf } from "../files/source.ts";
import { textOf, turnOf } from "../transcripts/turn.ts";
import type { EntryResult, Format } from "./format.ts";

/**
 * Responses of Zep and Graphiti, saved as JSON: edges with a `fact` and its period of validity, and episodes or
 * messages with `role_type` (https://help.getzep.com/sdk-reference/graph/edge/list,
 * https://help.getzep.com/v3/sdk-reference/thread/get-episodes-for-a-thread).
 */
export const zep: Format = {
  name: "an export of Zep",
  origin: "zep",
  recognises: (head) =>
    /^\s*[[{]/.test(head) &&
    ((/"fact"\s*:\s*"/.test(head) && /"(valid_at|source_node_uuid|uuid)"\s*:/.test(head)) ||
      (/"role_type"\s*:/.test(head) && /"content"\s*:/.test(head))),
  read: (source) =>
    objectsOf(source.head).some(({ fact, role_type }) => fact ?? role_type)
      ? readObjects(source, readEntry)
      : readEntries(
          source,
          readEntry,
          ["edges", "facts", "items", "episodes", "messages", "results", "data"].map(
            (list) => `$.${list}.*`,
          ),
        ),
};

function readEntry(entry: unknown): EntryResult[] {
  if (isObject(entry) && typeof entry.fact === "string") return [readFact(entry, entry.fact)];
  if (isObject(entry) && entry.content !== undefined) return [readMessage(entry)];
  return [{ problem: "is neither a fact nor a message" }];
}

function readFact(edge: JsonObject, fact: string): EntryResult {
  const { uuid, name, valid_at, invalid_at, expired_at, created_at } = edge;
  const until = invalid_at ?? expired_at;
  // A fact that is no longer valid must not look like a current one.
  const day = typeof until === "string" ? until.slice(0, 10) : null;
  const tags = typeof name === "string" ? [name.toLowerCase().replaceAll("_", " ")] : [];
  return {
    memory: {
      content: day === null ? fact : `${fact} (until ${day})`,
      tags,
      metadata: {
        ...(isObject(edge.attributes) && edge.attributes),
        from: edge.source_node_name,
        to: edge.target_node_name,
        valid_at,
        invalid_at: until,
      },
      createdAt: valid_at ?? created_at,
      ...(typeof uuid === "string" && { key: uuid }),
    },
  };
}

const ROLES = new Map<unknown, "user" | "assistant">([
  ["user", "user"],
  ["human", "user"],
  ["assistant", "assistant"],
  ["ai", "assistant"],
]);

function readMessage(message: JsonObject): EntryResult {
  const { uuid, role_type, role, name, created_at: createdAt } = message;
  const text = textOf(message.content);
  if (text === "") return { problem: "has no text" };
  const speakerRole = ROLES.get(role_type) ?? ROLES.get(role);
  const session = message.thread_id ?? message.session_id ?? message.thread_uuid;
  if (speakerRole === undefined) {
    // A text without a role was added to the graph directly.
    const isDirect = (role_type ?? role ?? "norole") === "norole";
    if (!isDirect) return { leftOut: "messages of tools and of the system" };
    const key = typeof uuid === "string" ? uuid : undefined;
    return { memory: { content: text, session, createdAt, key } };
  }
  const turn = turnOf({ role: speakerRole, text, id: uuid, session, agent: "zep", createdAt });
  const speaker = typeof name === "string" ? name : ROLES.has(role) ? undefined : role;
  return { memory: { ...turn, metadata: { role: speakerRole, speaker } } };
}
