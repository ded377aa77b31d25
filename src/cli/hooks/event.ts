import type { JsonObject } from "../../import/json-objects.ts";

/** A turn of a conversation, in the form of the API. */
interface Turn {
  role: "user" | "assistant";
  content: string;
  id?: string;
  at?: string;
}

/** What an agent passes to the command of a hook. */
export interface HookEvent {
  /** The event's name; null if the agent sends none. */
  name: string | null;
  session: string | null;
  /** The folder that the agent works in. */
  folder: string | null;
  /** The user's prompt; null for other events. */
  prompt: string | null;
  /** Whether the conversation is new or was compacted, so that earlier context is gone. */
  isFresh: boolean;
  /** The file that the agent writes the conversation to. */
  transcript: string | null;
  /** The turns that the event itself contains. */
  turns: Turn[];
}

/** A resumed conversation still has its context; these do not. */
const FRESH = new Set(["startup", "clear", "compact"]);

/**
 * Reads the event that a hook receives on standard input, as the agents document it:
 * Claude Code https://code.claude.com/docs/en/hooks, Codex https://developers.openai.com/codex/hooks,
 * Gemini CLI https://geminicli.com/docs/hooks/reference, Cursor https://cursor.com/docs/agent/hooks; and
 * what our plugin for OpenCode sends (`connect/opencode-plugin.ts`).
 */
export function readHookEvent(input: JsonObject): HookEvent {
  const [workspace] = Array.isArray(input.workspace_roots) ? input.workspace_roots : [];
  const source = textOf(input.source);
  return {
    name: textOf(input.hook_event_name),
    session: textOf(input.session_id) ?? textOf(input.conversation_id),
    folder: textOf(input.cwd) ?? textOf(workspace),
    prompt: textOf(input.prompt),
    isFresh: source !== null && FRESH.has(source),
    transcript: textOf(input.transcript_path),
    turns: Array.isArray(input.turns) ? input.turns.filter(isTurn) : turnsOfCursor(input),
  };
}

/** Cursor sends each turn as an event; its transcripts have no times. */
function turnsOfCursor({ hook_event_name: name, generation_id, prompt, text }: JsonObject) {
  const generation = textOf(generation_id);
  const turn = (role: Turn["role"], value: unknown): Turn[] => {
    const content = textOf(value);
    if (content === null || content.trim() === "") return [];
    const id = JSON.stringify([generation, role, Bun.hash(content).toString(36)]);
    return [{ role, content, ...(generation !== null && { id }) }];
  };
  if (name === "beforeSubmitPrompt") return turn("user", prompt);
  return name === "afterAgentResponse" ? turn("assistant", text) : [];
}

function isTurn(value: unknown): value is Turn {
  const { role, content } = Object(value);
  return (role === "user" || role === "assistant") && textOf(content)?.trim() !== undefined;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
