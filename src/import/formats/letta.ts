import { isObject, isText, type JsonObject, parseObject } from "../../text/parse-json.ts";
import { readEntries, readObjects } from "../files/json-document.ts";
import { isLineList, splitBlocks } from "../files/markdown.ts";
import { objectsOf } from "../files/source.ts";
import { textOf, turnOf } from "../transcripts/turn.ts";
import type { EntryResult, Format } from "./format.ts";

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
      ? readObjects(source, readPassage)
      : readEntries(
          source,
          readPart,
          PATHS.map((list) => `$.${list}.*`),
        ),
};

function readPart(entry: unknown, list: string): Iterable<EntryResult> {
  if (!isObject(entry)) return [{ problem: "is not a part of an agent" }];
  if (list === "agents") return readAgent(entry);
  if (list === "messages") return readMessage(entry, null);
  return typeof entry.value === "string" ? readBlock(entry, entry.value) : readPassage(entry);
}

function readAgent(agent: JsonObject): EntryResult[] {
  const name = typeof agent.name === "string" ? agent.name : null;
  const messages = Array.isArray(agent.messages) ? agent.messages : [];
  return messages.filter(isObject).flatMap((message) => readMessage(message, name));
}

/** A block is text that an agent always sees. Each of its paragraphs or lines becomes a memory. */
function* readBlock(block: JsonObject, value: string): Iterable<EntryResult> {
  const { id, label, created_at: createdAt } = block;
  const lines = value.split(/\r?\n/);
  for (const { text, headings } of splitBlocks(lines, { eachLine: isLineList(lines) })) {
    yield {
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

function readPassage(passage: JsonObject): EntryResult[] {
  const { id, text, tags, created_at: createdAt, file_name } = passage;
  if (!isText(text)) return [{ problem: "has no text" }];
  if (passage.is_deleted === true) return [{ leftOut: "memories that were deleted there" }];
  const metadata = { ...(isObject(passage.metadata) && passage.metadata), file: file_name };
  const key = typeof id === "string" ? id : undefined;
  return [{ memory: { content: text, tags, metadata, createdAt, key } }];
}

function readMessage(message: JsonObject, agent: string | null): EntryResult[] {
  const { id, role, created_at: createdAt } = message;
  if (role !== "user" && role !== "assistant") return [];
  const text = role === "user" ? unwrap(textOf(message.content)) : textOfAgent(message);
  if (text === "") return [];
  const session = message.conversation_id ?? message.agent_id ?? agent;
  return [{ memory: turnOf({ role, text, id, session, agent: agent ?? "letta", createdAt }) }];
}

/** The text of a user's message. Letta wraps it in JSON, like its own events, which have no text. */
function unwrap(text: string): string {
  const packed = parseObject(text);
  if (typeof packed?.type !== "string") return text;
  return packed.type === "user_message" && typeof packed.message === "string"
    ? packed.message.trim()
    : "";
}

/** The text of an agent's message. Older agents speak through a tool; their other text is thoughts. */
function textOfAgent({ tool_calls, content }: JsonObject): string {
  const calls = Array.isArray(tool_calls) ? tool_calls : [];
  if (calls.length === 0) return textOf(content);
  return calls
    .flatMap((call) => {
      const called = isObject(call) ? call.function : null;
      if (!isObject(called) || called.name !== "send_message") return [];
      const { message } = parseObject(String(called.arguments)) ?? {};
      return typeof message === "string" ? message.trim() : [];
    })
    .join("\n\n");
}
