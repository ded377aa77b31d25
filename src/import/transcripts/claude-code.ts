import { isObject, type JsonObject } from "../json-lines.ts";
import { type Part, type Place, stringOf, type TranscriptFormat, withoutElements } from "./turn.ts";

/** What Claude Code puts among the words of a person. */
const ASIDES = [
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
 * `~/.claude/projects/FOLDER/SESSION.jsonl`: each line is an event, and only those of the types `user`
 * and `assistant` are said by somebody. The format is internal to Claude Code
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
  readEntry: ({ value }, place) => {
    place.session = stringOf(value.sessionId) ?? place.session;
    place.folder = stringOf(value.cwd) ?? place.folder;
    return isSaid(value) ? readMessage(value, place) : null;
  },
};

/** Whether the person or their agent said it: not another agent, not Claude Code itself. */
function isSaid(value: JsonObject): boolean {
  const { isSidechain, isMeta, isCompactSummary, isApiErrorMessage, message } = value;
  if (isSidechain === true || isMeta === true) return false;
  if (isCompactSummary === true || isApiErrorMessage === true) return false;
  return !(isObject(message) && message.model === "<synthetic>");
}

function readMessage({ type, message, uuid, timestamp }: JsonObject, place: Place): Part | null {
  if ((type !== "user" && type !== "assistant") || !isObject(message)) return null;
  const said = textOf(message.content);
  const text = type === "user" ? wordsOf(said) : said.trim();
  if (text === "") return null;
  const at = stringOf(timestamp);
  const key = stringOf(uuid) ?? JSON.stringify([place.session, at, text]);
  return { role: type, text, at, key };
}

/** Thoughts, uses of tools and what these put out are blocks of other types. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block) =>
      isObject(block) && block.type === "text" ? (stringOf(block.text) ?? []) : [],
    )
    .join("\n");
}

/** What the person typed. */
function wordsOf(said: string): string {
  const text = withoutElements(said, ASIDES);
  if (INTERRUPTED.test(text)) return "";
  const command = COMMAND.exec(text);
  if (!command) return text;
  const [, name = "", args = ""] = command;
  // A command by itself, such as /clear, says nothing.
  return args.trim() === "" ? "" : `${name.trim()} ${args.trim()}`;
}
