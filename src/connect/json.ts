import {
  createScanner,
  findNodeAtLocation,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { ConnectError, type Value } from "./client.ts";
import { type Format, lineBreakOf, nextLine } from "./format.ts";

const OPTIONS = { allowTrailingComma: true };

/** JSON, with the comments and trailing commas that editors allow in it. */
export const jsonFormat: Format = {
  read(text) {
    const errors: ParseError[] = [];
    const value: unknown = parse(text, errors, OPTIONS);
    const [first] = errors;
    if (!first || text.trim() === "") return value ?? {};
    const line = text.slice(0, first.offset).split("\n").length;
    const problem = printParseErrorCode(first.error).replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ");
    throw new ConnectError(`is not valid JSON (line ${line}: ${problem.toLowerCase()})`);
  },

  write: (text, { servers }, name, entry, former) =>
    entry === null
      ? removeJson(text, [...servers, name], former)
      : writeJson(text, [...servers, name], entry),
};

type Path = readonly (string | number)[];

/**
 * Removes the value at a path. An object or array around it that is empty then is removed too, unless a
 * former text has one there, or a comment is in it.
 */
export function removeJson(text: string, path: Path, former: string): string {
  const removed = writeJson(text, path, null);
  const around = path.slice(0, -1);
  const container = nodeAt(removed, around);
  const isEmpty =
    container?.children?.length === 0 &&
    removed.slice(container.offset + 1, endOf(container) - 1).trim() === "";
  if (around.length === 0 || !isEmpty || nodeAt(former, around)) return removed;
  return removeJson(removed, around, former);
}

function nodeAt(text: string, path: Path): Node | undefined {
  const root = parseTree(text, [], OPTIONS);
  return root && findNodeAtLocation(root, [...path]);
}

/**
 * Sets the value at a path, and creates missing containers. A null value removes what is there. An array's
 * length as an index appends an element. Only the library's parser is used, because its editing functions
 * also reformat the surroundings of a change.
 */
export function writeJson(text: string, path: Path, value: Value | null): string {
  const root = parseTree(text, [], OPTIONS);
  if (!root) return value === null ? text : `${JSON.stringify(wrap(path, value), null, 2)}\n`;
  let container = root;
  for (const [depth, key] of path.entries()) {
    const rest = path.slice(depth + 1);
    const child = childOf(container, key);
    if (!child) return value === null ? text : insert(text, container, key, wrap(rest, value));
    if (rest.length > 0 && child.value.type !== "null") container = child.value;
    else if (value === null) return remove(text, container, child.member);
    else return replace(text, child.member, child.value, wrap(rest, value));
  }
  return text;
}

/** Wraps a value in new objects, and in arrays where the path has numbers. */
function wrap(path: Path, value: Value): Value {
  return path.reduceRight<Value>(
    (inner, key) => (typeof key === "number" ? [inner] : { [key]: inner }),
    value,
  );
}

/** A value in a container, and its member: in an object that is the name with the value. */
function childOf(container: Node, key: string | number): { member: Node; value: Node } | null {
  const members = container.children ?? [];
  const member =
    typeof key === "number"
      ? members[key]
      : members.find(({ children: [name] = [] }) => name?.value === key);
  const value = typeof key === "number" ? member : member?.children?.[1];
  return member && value ? { member, value } : null;
}

function insert(text: string, container: Node, key: string | number, value: Value): string {
  const last = container.children?.at(-1);
  const start = container.offset + 1;
  const isInline = last
    ? !startsLine(text, last)
    : container.parent !== undefined && !text.includes("\n");
  const indent = last ? indentOf(text, last) : indentOf(text, container) + stepOf(text);
  const name = typeof key === "number" ? "" : `${JSON.stringify(key)}: `;
  const member = name + render(text, value, isInline ? null : indent);
  const eol = lineBreakOf(text);

  if (!last) {
    const inside = text.slice(start, endOf(container) - 1);
    const close = inside.trim() === "" ? eol + indentOf(text, container) : inside;
    const added = isInline ? member + inside : eol + indent + member + close;
    return text.slice(0, start) + added + text.slice(endOf(container) - 1);
  }
  const comma = commaAfter(text, endOf(last));
  if (isInline) {
    return `${text.slice(0, endOf(last))}, ${member}${text.slice(endOf(last))}`;
  }
  // A comment in the last member's line stays in that line.
  const after = comma ?? endOf(last);
  const said = /^[ \t]*(\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/[ \t]*(?=\r?\n))?/.exec(text.slice(after));
  const at = after + (said?.[0].trimEnd().length ?? 0);
  const head = text.slice(0, endOf(last)) + (comma === null ? "," : "");
  const added = eol + indent + member + (comma === null ? "" : ",");
  return head + text.slice(endOf(last), at) + added + text.slice(at);
}

function replace(text: string, member: Node, old: Node, value: Value): string {
  const indent = startsLine(text, member) ? indentOf(text, member) : null;
  return text.slice(0, old.offset) + render(text, value, indent) + text.slice(endOf(old));
}

function remove(text: string, container: Node, member: Node): string {
  const members = container.children ?? [];
  const before = members[members.indexOf(member) - 1];
  const comma = commaAfter(text, endOf(member));
  if (!before && comma === null) {
    const inside = text.slice(container.offset + 1, endOf(container) - 1);
    const rest = cut(inside, member.offset - container.offset - 1, member.length);
    if (rest.trim() === "") return cut(text, container.offset + 1, inside.length);
  }
  const end = comma ?? endOf(member);
  // Without a comma after the last member, the comma before it is removed too.
  const own = before && comma === null ? commaAfter(text, endOf(before)) : null;
  if (!startsLine(text, member) || !/^[ \t]*(\r?\n|$)/.test(text.slice(end))) {
    const start = own === null ? member.offset : own - 1;
    return cut(text, start, end - start);
  }
  const start = member.offset - indentOf(text, member).length;
  const rest = cut(text, start, nextLine(text, end) - start);
  return own === null ? rest : cut(rest, own - 1, 1);
}

function cut(text: string, offset: number, length: number): string {
  return text.slice(0, offset) + text.slice(offset + length);
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

/** The end of the comma that follows an offset, after any comments; null for none. */
function commaAfter(text: string, offset: number): number | null {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === "," ? at + 1 : null;
}

/** Whether only white space precedes a node in its line. */
function startsLine(text: string, node: Node): boolean {
  const start = text.lastIndexOf("\n", node.offset - 1) + 1;
  return start > 0 && text.slice(start, node.offset).trim() === "";
}

function indentOf(text: string, { offset }: Node): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** The indentation of one level, taken from the first indented line. */
function stepOf(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
}

/** Renders a value on several indented lines, or on one line when `indent` is null. */
function render(text: string, value: Value, indent: string | null): string {
  if (indent === null) return JSON.stringify(value);
  return JSON.stringify(value, null, stepOf(text)).replaceAll("\n", lineBreakOf(text) + indent);
}
