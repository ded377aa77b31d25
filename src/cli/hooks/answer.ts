import type { HookEvent } from "./event.ts";

/** Cursor's event names begin with a lower-case letter. */
const CURSOR_EVENT = /^[a-z]/;

/**
 * Formats the output by which a hook adds a text to the conversation, in the format of its agent; see
 * `readHookEvent`. An empty text gives an empty output.
 */
export function answerOf({ name }: Pick<HookEvent, "name">, text: string): string {
  if (text === "" || name === null) return text;
  if (CURSOR_EVENT.test(name)) return JSON.stringify({ additional_context: text });
  const hookSpecificOutput = { hookEventName: name, additionalContext: text };
  return JSON.stringify({ hookSpecificOutput });
}
