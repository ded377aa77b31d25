import type { JsonObject } from "../../import/json-objects.ts";

/** What somebody said, as the API takes it. */
export interface SaidTurn {
  role: "user" | "assistant";
  content: string;
  id?: string;
  at?: string;
}

/** What an agent tells the command of a hook. */
export interface HookEvent {
  /** The event's own name; null where the agent names none. */
  name: string | null;
  session: string | null;
  /** The folder that the agent works in. */
  folder: string | null;
  /** What the person asks, where the event is about that. */
  prompt: string | null;
  /** Whether the conversation begins, or has forgotten what it was told. */
  isFresh: boolean;
  /** The file that the agent writes the conversation to. */
  transcript: string | null;
  /** What was said, where the event itself has it. */
  turns: SaidTurn[];
}

/** A conversation that goes on where it was knows what it was told. */
const FRESH = new Set(["startup", "clear", "compact"]);

/**
 * Reads what a hook is given on standard input, by the agents' own descriptions:
 * Claude Code https://code.claude.com/docs/en/hooks, Codex https://developers.openai.com/codex/hooks,
 * Gemini CLI https://geminicli.com/docs/hooks/reference, Cursor https://cursor.com/docs/agent/hooks; and
 * what our plugin for OpenCode gives (`connect/opencode-plugin.ts`).
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

/** Cursor tells what is said as it is said; its transcripts have no times. */
function turnsOfCursor({ hook_event_name: name, generation_id, prompt, text }: JsonObject) {
  const generation = textOf(generation_id);
  const turn = (role: SaidTurn["role"], value: unknown): SaidTurn[] => {
    const content = textOf(value);
    if (content === null || content.trim() === "") return [];
    const id = JSON.stringify([generation, role, Bun.hash(content).toString(36)]);
    return [{ role, content, ...(generation !== null && { id }) }];
  };
  if (name === "beforeSubmitPrompt") return turn("user", prompt);
  return name === "afterAgentResponse" ? turn("assistant", text) : [];
}

function isTurn(value: unknown): value is SaidTurn {
  const { role, content } = Object(value);
  return (role === "user" || role === "assistant") && textOf(content)?.trim() !== undefined;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
