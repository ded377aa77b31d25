import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from "yaml";
import type { Fields } from "./client.ts";
import { ConnectError } from "./connect-error.ts";
import { type Format, lineBreakOf, nextLine, withLastBreak } from "./format.ts";
import { renderYaml } from "./render.ts";

/** YAML in block style. Text is edited in place, because a library that rewrites it would change other lines too. */
export const yamlFormat: Format = {
  read: (text) => parseText(text).toJS() ?? {},

  write(text, table, name, entry) {
    const root = parseText(text).contents;
    const holder = isMap(root) ? findPair(root, table) : null;
    if (!holder) return entry === null ? text : append(text, { [table]: { [name]: entry } });
    const keyEnd = rangeOf(holder.key)[1];

    if (isMap(holder.value) && !holder.value.flow) {
      const entries = holder.value;
      const lines = entry === null ? "" : render({ [name]: entry }, columnOf(text, entries), text);
      const old = findPair(entries, name);
      const [start, end] = old ? linesOf(text, old) : endOf(text, entries);
      const head = withLastBreak(text.slice(0, start));
      if (entry !== null || entries.items.length > 1) return head + lines + text.slice(end);
      // A key without any lines below it would be null.
      const colon = text.indexOf(":", keyEnd) + 1;
      return `${head.slice(0, colon)} {}${head.slice(colon)}${text.slice(end)}`;
    }

    if (entry === null) return text;
    const [start, end] = holder.value === null ? [keyEnd, keyEnd] : rangeOf(holder.value);
    const cut = text.slice(0, start).trimEnd() + text.slice(end);
    const at = nextLine(cut, keyEnd);
    const indent = columnOf(text, holder) + 2;
    return (
      withLastBreak(cut.slice(0, at)) + render({ [name]: entry }, indent, text) + cut.slice(at)
    );
  },
};

function parseText(text: string) {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (!error) return document;
  const line = error.linePos?.[0].line ?? 1;
  const [problem = ""] = error.message.split(/ at line \d/);
  throw new ConnectError(`is not valid YAML (line ${line}: ${problem})`);
}

function findPair(map: YAMLMap, name: string): Pair | null {
  return map.items.find(({ key }) => isScalar(key) && key.value === name) ?? null;
}

/** Start and end of a node in its text, without the white space and comments after it. */
function rangeOf(node: unknown): [start: number, end: number] {
  const range = node instanceof Object && "range" in node ? node.range : null;
  if (!Array.isArray(range)) throw new ConnectError("is YAML of a kind that can't be changed");
  return [range[0], range[1]];
}

/** The column of a pair's key, or of a map's first key. */
function columnOf(text: string, node: YAMLMap | Pair): number {
  const [start] = rangeOf("items" in node ? node.items[0]?.key : node.key);
  return start - startOfLine(text, start);
}

function startOfLine(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** The lines of an entry. */
function linesOf(text: string, { key, value }: Pair): [start: number, end: number] {
  const end = rangeOf(value ?? key)[1];
  // A block scalar includes the break of its last line.
  return [startOfLine(text, rangeOf(key)[0]), text[end - 1] === "\n" ? end : nextLine(text, end)];
}

/** The position for a new entry: after the last one. */
function endOf(text: string, { items }: YAMLMap): [start: number, end: number] {
  const last = items.at(-1);
  const end = last ? linesOf(text, last)[1] : text.length;
  return [end, end];
}

function append(text: string, fields: Fields): string {
  return withLastBreak(text) + render(fields, 0, text);
}

function render(fields: Fields, indent: number, text: string): string {
  const prefix = " ".repeat(indent);
  return renderYaml(fields)
    .replaceAll(/^(?=.)/gm, prefix)
    .replaceAll("\n", lineBreakOf(text));
}
