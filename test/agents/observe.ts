import type { Asked, Message } from "./model/api.ts";

/** What the model sees of ctxd in a request, in bytes. */
export interface Seen {
  /** Tools that it could call, with their descriptions and inputs. */
  readonly tools: number;
  /** Tools that it knows by their names only. */
  readonly names: number;
  readonly instructions: number;
  readonly recalled: number;
}

/** A line of a recalled memory. */
const RECALLED = /^- \(.*\bmem_[0-9a-f]{32}\) /;
const TOOL = /(?:save|update|delete|get|list|search)_memor(?:y|ies)|recall_context/g;

/** @param instructions what the server says of itself when a program connects to it */
export function whatIsSeen({ tools, messages }: Asked, instructions: string): Seen {
  const offered = tools.filter(({ name }) => name.match(TOOL));
  const lines = new Set(instructions.split("\n"));
  const said = messages.flatMap(({ text }) => withoutRecalled(text));
  const texts = said.filter((line) => !lines.has(line)).join("\n");
  return {
    tools: bytesOf(offered.map(({ definition }) => JSON.stringify(definition))),
    names: offered.length > 0 ? 0 : new Set(texts.match(TOOL)).size,
    instructions: bytesOf(said.filter((line) => lines.has(line))),
    recalled: bytesOf(messages.flatMap(({ text }) => recalledIn(text))),
  };
}

function bytesOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
}

/** The messages that contain recalled memories. */
export function messagesWithMemories({ messages }: Asked): Message[] {
  return messages.filter(({ text }) => recalledIn(text).length > 0);
}

/** Recalled memories in a text, each part after the line that introduces it. */
export function recalledIn(text: string): string[] {
  return linesOf(text).flatMap(({ line, isRecalled }) => (isRecalled ? [line] : []));
}

/** The other lines of a text: what is said now. */
export function withoutRecalled(text: string): string[] {
  return linesOf(text).flatMap(({ line, isRecalled }) => (isRecalled ? [] : [line]));
}

function linesOf(text: string) {
  const isMemory = (line = "") => RECALLED.test(line);
  return text.split("\n").map((line, at, lines) => ({
    line,
    isRecalled: isMemory(line) || isMemory(lines[at + 1]),
  }));
}
