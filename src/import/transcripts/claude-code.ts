import { isObject, type JsonObject } from "../../text/parse-json.ts";
import {
  type Part,
  type Position,
  saidText,
  stringOf,
  type TranscriptFormat,
  withoutElements,
} from "./turn.ts";

/** Elements that Claude Code adds to the user's words. */
const INJECTED = [
  "system-reminder",
  "local-command-caveat",
  "local-command-stdout",
  "local-command-stderr",
  "command-message",
  "command-contents",
  "bash-input",
  "bash-stdout",
  "bash-stderr",
  "ide_opened_file",
  "ide_selection",
  "ide_diagnostics",
  "task-notification",
  "user-prompt-submit-hook",
];
const INTERRUPTED = /^\[Request interrupted by user[^\]]*\]$/;
const COMMAND =
  /^<command-name>([^<]*)<\/command-name>\s*(?:<command-args>([\s\S]*)<\/command-args>)?$/;

/**
 * `~/.claude/projects/FOLDER/SESSION.jsonl`: each line is an event; only the types `user` and
 * `assistant` are turns. The format is internal to Claude Code
 * (https://code.claude.com/docs/en/claude-directory); these fields are those of versions 1.0 to 2.1.
 */
export const claudeCode: TranscriptFormat = {
  agent: "claude-code",
  name: "a transcript of Claude Code",
  recognises: (first) =>
    first.some(
      ({ type, sessionId, parentUuid }) =>
        typeof type === "string" && typeof sessionId === "string" && parentUuid !== undefined,
    ),
  readEntry: ({ value }, position) => {
    position.session = stringOf(value.sessionId) ?? position.session;
    position.folder = stringOf(value.cwd) ?? position.folder;
    return isTurn(value) ? readMessage(value, position) : null;
  },
};

/** Whether the user or their agent said it, rather than a subagent or Claude Code itself. */
function isTurn(value: JsonObject): boolean {
  const { isSidechain, isMeta, isCompactSummary, isApiErrorMessage, message } = value;
  if (isSidechain === true || isMeta === true) return false;
  if (isCompactSummary === true || isApiErrorMessage === true) return false;
  return !(isObject(message) && message.model === "<synthetic>");
}

function readMessage(
  { type, message, uuid, timestamp }: JsonObject,
  position: Position,
): Part | null {
  if ((type !== "user" && type !== "assistant") || !isObject(message)) return null;
  const said = saidText(message.content, (block) => block.type === "text");
  const text = type === "user" ? typedText(said) : said.trim();
  if (text === "") return null;
  const at = stringOf(timestamp);
  const key = stringOf(uuid) ?? JSON.stringify([position.session, at, text]);
  return { role: type, text, at, key };
}

/** The part of a message that the user typed. */
function typedText(said: string): string {
  const text = withoutElements(said, INJECTED);
  if (INTERRUPTED.test(text)) return "";
  const command = COMMAND.exec(text);
  if (!command) return text;
  const [, name = "", args = ""] = command;
  // A command without arguments, such as /clear, is not worth keeping.
  return args.trim() === "" ? "" : `${name.trim()} ${args.trim()}`;
}
