import { readEntries, readObjects } from "../files/json-document.ts";
import { isObject, type JsonObject, objectsOf } from "../files/json-objects.ts";
import { isLineList, splitBlocks } from "../files/markdown.ts";
import { textOf, turnOf } from "../transcripts/turn.ts";
import type { Format, Found } from "./format.ts";

const PATHS = ["agents", "blocks", "core_memory", "messages", "passages", "archival_memory"];

/**
 * An agent file of Letta (`.af`, letta/schemas/agent_file.py in letta-ai/letta; older ones have
 * `core_memory` and `messages` at the top), and lists of passages of its archival memory
 * (https://docs.letta.com/api/resources/agents/subresources/passages).
 */
export const letta: Format = {
  name: "an agent of Letta",
  origin: "letta",
  recognises: (head) =>
    /^\s*[[{]/.test(head) &&
    (/"(core_memory|in_context_message_ids|in_context_message_indices|block_ids)"\s*:/.test(head) ||
      (/"(archive_id|embedding_config)"\s*:/.test(head) && /"text"\s*:/.test(head)) ||
      (/"label"\s*:/.test(head) && /"value"\s*:/.test(head) && /"agent_type"\s*:/.test(head))),
  read: (source) =>
    objectsOf(source.head).some(({ text, archive_id }) => text && archive_id)
      ? readObjects(source, (entry, at) => readPassage(entry, at))
      : readEntries(
          source,
          readPart,
          PATHS.map((list) => `$.${list}.*`),
        ),
};

function* readPart(entry: unknown, at: string, list: string): Iterable<Found> {
  if (!isObject(entry)) yield { at, problem: "is not a part of an agent" };
  else if (list === "agents") yield* readAgent(entry, at);
  else if (list === "messages") yield* readMessage(entry, at, null);
  else if (typeof entry.value === "string") yield* readBlock(entry, entry.value, at);
  else yield* readPassage(entry, at);
}

function* readAgent(agent: JsonObject, at: string): Iterable<Found> {
  const name = typeof agent.name === "string" ? agent.name : null;
  for (const message of Array.isArray(agent.messages) ? agent.messages : []) {
    if (isObject(message)) yield* readMessage(message, at, name);
  }
}

/** A block is text that an agent always sees. Each of its paragraphs or lines becomes a memory. */
function* readBlock(block: JsonObject, value: string, at: string): Iterable<Found> {
  const { id, label, created_at: createdAt } = block;
  const lines = value.split(/\r?\n/);
  for (const { text, headings } of splitBlocks(lines, { eachLine: isLineList(lines) })) {
    yield {
      at,
      memory: {
        content: text,
        subject: headings.join(" › "),
        tags: [label],
        createdAt,
        metadata: { block: label },
        key: JSON.stringify([id ?? label ?? null, text]),
      },
    };
  }
}

function* readPassage(passage: JsonObject, at: string): Iterable<Found> {
  const { id, text, tags, created_at: createdAt, file_name } = passage;
  if (typeof text !== "string" || text.trim() === "") {
    yield { at, problem: "has no text" };
    return;
  }
  if (passage.is_deleted === true) {
    yield { at, leftOut: "memories that were deleted there" };
    return;
  }
  const metadata = { ...(isObject(passage.metadata) && passage.metadata), file: file_name };
  const key = typeof id === "string" ? id : undefined;
  yield { at, memory: { content: text, tags, metadata, createdAt, key } };
}

function* readMessage(message: JsonObject, at: string, agent: string | null): Iterable<Found> {
  const { id, role, created_at: createdAt } = message;
  if (role !== "user" && role !== "assistant") return;
  const text = role === "user" ? unwrap(textOf(message.content)) : textOfAgent(message);
  if (text === "") return;
  const session = message.conversation_id ?? message.agent_id ?? agent;
  const turn = turnOf({
    role,
    text,
    session,
    title: undefined,
    agent: agent ?? "letta",
    createdAt,
  });
  yield { at, memory: { ...turn, ...(typeof id === "string" && { key: id }) } };
}

/** The text of a user's message. Letta wraps it in JSON, like its own events, which have no text. */
function unwrap(text: string): string {
  if (!text.startsWith("{")) return text;
  try {
    const packed: unknown = JSON.parse(text);
    if (!isObject(packed) || typeof packed.type !== "string") return text;
    return packed.type === "user_message" && typeof packed.message === "string"
      ? packed.message.trim()
      : "";
  } catch {
    return text;
  }
}

/** The text of an agent's message. Older agents speak through a tool; their other text is thoughts. */
function textOfAgent({ tool_calls, content }: JsonObject): string {
  const calls = Array.isArray(tool_calls) ? tool_calls : [];
  if (calls.length === 0) return textOf(content);
  return calls
    .flatMap((call) => {
      const called = isObject(call) ? call.function : null;
      if (!isObject(called) || called.name !== "send_message") return [];
      try {
        const { message } = Object(JSON.parse(String(called.arguments)));
        return typeof message === "string" ? message.trim() : [];
      } catch {
        return [];
      }
    })
    .join("\n\n");
}
