import { isObject } from "../files/json-objects.ts";
import { SPEAKERS } from "../transcripts/turn.ts";
import type { SourceMemory } from "./format.ts";

/** A message of a conversation in an export. */
interface ChatTurn {
  role: "user" | "assistant";
  text: string;
  session: unknown;
  /** The title of the conversation. */
  title: string | undefined;
  agent: string;
  createdAt: unknown;
}

/** A message as a memory that begins with its speaker. */
export function turnOf({ role, text, session, title, agent, createdAt }: ChatTurn): SourceMemory {
  return {
    content: `${SPEAKERS[role]}: ${text}`,
    agent,
    session,
    createdAt,
    metadata: { role, title },
    key: JSON.stringify([session ?? null, role, createdAt ?? null, text]),
  };
}

/** The text of a message: its content is a text, or a list of texts and of parts with a `text`. */
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
