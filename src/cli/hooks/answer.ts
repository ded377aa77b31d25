import type { HookEvent } from "./event.ts";

/** Events of Cursor begin with a small letter. */
const OF_CURSOR = /^[a-z]/;

/**
 * What a hook prints so that a text becomes part of the conversation, in the words of its agent; see
 * `readHookEvent`. Nothing for no text.
 */
export function answerOf({ name }: Pick<HookEvent, "name">, text: string): string {
  if (text === "" || name === null) return text;
  if (OF_CURSOR.test(name)) return JSON.stringify({ additional_context: text });
  const hookSpecificOutput = { hookEventName: name, additionalContext: text };
  return JSON.stringify({ hookSpecificOutput });
}
