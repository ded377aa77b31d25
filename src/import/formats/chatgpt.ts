import { isObject, type JsonObject } from "../../text/parse-json.ts";
import { readEntries } from "../files/json-document.ts";
import { textOf, turnOf } from "../transcripts/turn.ts";
import type { EntryResult, Format, SourceMemory } from "./format.ts";

/**
 * `conversations.json` of ChatGPT's data export, or `conversations-000.json` and so on: a list of conversations, each
 * with a tree of messages in `mapping`. The user sees the branch from the root to `current_node`. Source of the fields:
 * https://difegam.github.io/chatgpt-to-markdown/reference/data-models; OpenAI does not document them.
 */
export const chatGptConversations: Format = {
  name: "conversations of ChatGPT",
  origin: "chatgpt",
  recognises: (head) =>
    /^\s*\[/.test(head) &&
    /"mapping"\s*:\s*\{/.test(head) &&
    /"(message|current_node)"\s*:/.test(head),
  read(source) {
    // Each conversation repeats the memories that existed when it began. These are their hashes.
    const known = new Set<string>();
    return readEntries(source, (entry) => readConversation(entry, known));
  },
};

/** Saved memories that are recognised when they are repeated. Others get the same id again. */
const MAX_KNOWN = 100_000;
/** Tag of memories that ChatGPT has saved. */
const SAVED = "saved";

function* readConversation(entry: unknown, known: Set<string>): Iterable<EntryResult> {
  if (!isObject(entry) || !isObject(entry.mapping)) {
    yield { problem: "is not a conversation" };
    return;
  }
  const session = entry.conversation_id ?? entry.id;
  const title = typeof entry.title === "string" ? entry.title : undefined;
  for (const message of messagesOf(entry, entry.mapping)) {
    for (const content of savedIn(message)) {
      const hash = new Bun.CryptoHasher("sha256").update(content).digest("base64");
      if (known.has(hash)) continue;
      if (known.size < MAX_KNOWN) known.add(hash);
      yield { memory: savedMemory(content, message.create_time) };
    }
    const text = saidIn(message);
    const role = roleOf(message);
    if (text === "" || role === null) continue;
    const createdAt = message.create_time ?? entry.create_time;
    const { gizmo_id } = entry;
    const { id } = message;
    const turn = turnOf({ role, text, id, session, title, agent: "chatgpt", createdAt });
    yield { memory: { ...turn, metadata: { role, title, gizmo_id } } };
  }
}

/** The messages of the visible branch, in order. */
function messagesOf(conversation: JsonObject, mapping: JsonObject): JsonObject[] {
  const branch: JsonObject[] = [];
  const seen = new Set<unknown>();
  let at = conversation.current_node;
  while (typeof at === "string" && !seen.has(at)) {
    seen.add(at);
    const node = Object.hasOwn(mapping, at) ? mapping[at] : null;
    if (!isObject(node)) break;
    if (isObject(node.message)) branch.push(node.message);
    at = node.parent;
  }
  if (branch.length > 0) return branch.reverse();
  // Without a current node, all messages in the order of the file.
  return Object.values(mapping).flatMap((node) => {
    const message = isObject(node) ? node.message : null;
    return isObject(message) ? [message] : [];
  });
}

function roleOf({ author, recipient, weight, metadata }: JsonObject): "user" | "assistant" | null {
  const role = isObject(author) ? author.role : null;
  const isHidden =
    weight === 0 || (isObject(metadata) && metadata.is_visually_hidden_from_conversation === true);
  const isForTool = recipient !== undefined && recipient !== null && recipient !== "all";
  if (isHidden || isForTool) return null;
  return role === "user" || role === "assistant" ? role : null;
}

/** Content types with text. Other types are thoughts, code for tools, and results of tools. */
const TEXT_TYPES = new Set(["text", "multimodal_text"]);

function saidIn({ content }: JsonObject): string {
  if (!isObject(content) || !TEXT_TYPES.has(String(content.content_type ?? "text"))) return "";
  return textOf(content.parts);
}

/** `1. [2024-10-28]. User likes tea.` */
const NUMBERED = /^\s*\d+\.\s*(?:\[[^\]]{1,40}\]\.?\s*)?(\S.*)$/;

/** The memories that a message saves (recipient `bio`) or lists. */
function savedIn(message: JsonObject): string[] {
  const { content, recipient } = message;
  if (!isObject(content)) return [];
  if (recipient === "bio") return [textOf(content.parts)].filter((text) => text !== "");
  if (content.content_type !== "model_editable_context") return [];
  const { model_set_context: context } = content;
  if (typeof context !== "string") return [];
  return context.split("\n").flatMap((line) => NUMBERED.exec(line)?.[1]?.trim() ?? []);
}

function savedMemory(content: string, createdAt: unknown): SourceMemory {
  return {
    content,
    tags: [SAVED],
    agent: "chatgpt",
    createdAt,
    key: JSON.stringify([SAVED, content]),
  };
}

/**
 * `memory.json` of the same export: a list of saved memories (`content`, `enabled`, times). Source:
 * https://whychose.com/seo/chatgpt-memory-export.
 */
export const chatGptMemories: Format = {
  name: "memories of ChatGPT",
  origin: "chatgpt",
  recognises: (head) =>
    /^\s*[[{]/.test(head) &&
    /"enabled"\s*:\s*(true|false)/.test(head) &&
    /"content"\s*:\s*"/.test(head),
  read: (source) =>
    readEntries(source, (entry) => {
      if (!isObject(entry) || typeof entry.content !== "string") {
        return [{ problem: "has no memory" }];
      }
      if (entry.enabled === false) return [{ leftOut: "memories that were switched off there" }];
      const created = entry.created_at ?? entry.create_time ?? entry.created;
      const updatedAt = entry.updated_at ?? entry.update_time ?? entry.updated;
      return [{ memory: { ...savedMemory(entry.content, created), updatedAt } }];
    }),
};
