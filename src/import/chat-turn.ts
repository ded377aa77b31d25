import type { SourceMemory } from "./format.ts";
import { isObject } from "./json-lines.ts";
import { SPEAKERS } from "./transcripts/turn-memory.ts";

/** What somebody said in a conversation. */
interface Said {
  role: "user" | "assistant";
  text: string;
  session: unknown;
  /** What the conversation is called. */
  title: string | undefined;
  agent: string;
  createdAt: unknown;
}

/** A turn of a conversation as a memory: who spoke, and what was said. */
export function turnOf({ role, text, session, title, agent, createdAt }: Said): SourceMemory {
  return {
    content: `${SPEAKERS[role]}: ${text}`,
    agent,
    session,
    createdAt,
    metadata: { role, title },
    key: JSON.stringify([session ?? null, role, createdAt ?? null, text]),
  };
}

/** The words of a message, whose content is a text or a list of texts and of parts with a `text`. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content.trim();
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => {
      if (typeof part === "string") return part;
      const isText = isObject(part) && (part.type === undefined || part.type === "text");
      return isText && typeof part.text === "string" ? part.text : "";
    })
    .filter((text) => text.trim() !== "")
    .join("\n\n")
    .trim();
}
