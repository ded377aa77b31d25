import { type AST, getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";
import { stringify } from "yaml";
import { type Client, ConnectError, type Fields, SERVER_NAME, type Value } from "./client.ts";

/** A file format: parses a configuration, and changes one entry without touching the rest. */
export interface Format {
  /**
   * Parses a text.
   * @throws ConnectError whose message is the end of a sentence about the file
   */
  read(text: string): unknown;
  /**
   * Sets an entry among the client's servers, both of which may be new. A null entry is removed, and with it
   * servers that are empty then and that `former` does not have. All other characters stay. The result may
   * be wrong for an unusual layout, so the caller parses it again.
   * @param former the text before ctxd changed it; empty for a new file
   */
  write(text: string, client: Servers, name: string, entry: Fields | null, former: string): string;
}

/** Where a client's file has its servers. */
export type Servers = Pick<Client, "servers" | "isList">;

/** The line break that a text uses. */
export function lineBreakOf(text: string): "\r\n" | "\n" {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** The offset of the next line, or the end of the text. */
export function nextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

/** The text with a line break at its end. */
export function withLastBreak(text: string): string {
  return text === "" || text.endsWith("\n") ? text : text + lineBreakOf(text);
}

/** An entry with its surrounding keys, in the format of the client's file, for people to paste. */
export function renderEntry({ format, servers, isList }: Client, entry: Fields): string {
  if (format === "toml") return renderToml([...servers, SERVER_NAME], entry).trimEnd();
  const list = isList ? [{ name: SERVER_NAME, ...entry }] : { [SERVER_NAME]: entry };
  const all = servers.reduceRight<Value>((value, key) => ({ [key]: value }), list);
  return format === "json" ? JSON.stringify(all, null, 2) : renderYaml(all).trimEnd();
}

/** YAML with a line break at the end. */
export function renderYaml(value: Value): string {
  return stringify(value, { lineWidth: 0 });
}

/** A TOML table with its header, and a line break at the end. A number ends the path of an array of tables. */
function renderToml(path: readonly (string | number)[], fields: Fields): string {
  const keys = path.filter((part) => typeof part === "string").map(key);
  const header = keys.length < path.length ? `[[${keys.join(".")}]]` : `[${keys.join(".")}]`;
  const lines = Object.entries(fields).map(([name, value]) => `${key(name)} = ${inline(value)}\n`);
  return `${header}\n${lines.join("")}`;
}

/** A TOML value on one line. */
function inline(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([name, each]) => `${key(name)} = ${inline(each)}`);
    return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
  }
  // TOML's basic strings use the same escapes as JSON.
  return JSON.stringify(value);
}

function key(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

/** TOML. An entry is a table with its own header, the form that clients write. */
export const tomlFormat = {
  read: (text) => getStaticTOMLValue(parseText(text)),
  write: (text, { servers }, name, entry) => writeToml(text, [...servers, name], entry),
} satisfies Format;

/** Sets the table at a path, or removes it. A number is a place in an array of tables. */
export function writeToml(
  text: string,
  path: readonly (string | number)[],
  fields: Fields | null,
): string {
  const [first, ...others] = tablesOf(parseText(text), path);
  const eol = lineBreakOf(text);
  const lines = fields === null ? "" : renderToml(path, fields).replaceAll("\n", eol);
  if (!first) {
    if (fields === null) return text;
    return text.trim() === "" ? lines : withLastBreak(text) + eol + lines;
  }
  const rest = others.reduceRight(cutTable, text);
  if (fields === null) return cutTable(rest, first);
  const [start, end] = first.range;
  return rest.slice(0, start) + lines + rest.slice(nextLine(rest, end));
}

function parseText(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const problem = error.message.toLowerCase();
    throw new ConnectError(`is not valid TOML (line ${error.lineNumber}: ${problem})`);
  }
}

/** The tables at a path and below it, in the order of the text. */
function tablesOf(program: AST.TOMLProgram, path: readonly (string | number)[]): AST.TOMLTable[] {
  return program.body[0].body
    .filter((node) => node.type === "TOMLTable")
    .filter(({ resolvedKey }) => path.every((key, index) => resolvedKey[index] === key));
}

/** Removes a table and the empty line before it. */
function cutTable(text: string, { range: [start, end] }: AST.TOMLTable): string {
  const before = text.slice(0, start).replace(/(^|\n)\r?\n$/, "$1");
  return before + text.slice(nextLine(text, end));
}
