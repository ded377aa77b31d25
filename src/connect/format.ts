import { stringify } from "yaml";
import { type Client, type Fields, SERVER_NAME, type Value } from "./client.ts";

/** A file format: parses a configuration, and changes one entry without touching the rest. */
export interface Format {
  /**
   * Parses a text.
   * @throws ConnectError whose message is the end of a sentence about the file
   */
  read(text: string): unknown;
  /**
   * Sets an entry in a table of entries, both of which may be new. A null entry is removed, and with it a
   * table that is empty then and that `former` does not have. All other characters stay. The result may be
   * wrong for an unusual layout, so the caller parses it again.
   * @param former the text before ctxd changed it; empty for a new file
   */
  write(
    text: string,
    path: readonly [table: string, name: string],
    entry: Fields | null,
    former: string,
  ): string;
}

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
export function renderEntry(client: Client, entry: Fields): string {
  switch (client.format) {
    case "json":
      return JSON.stringify({ [client.servers]: { [SERVER_NAME]: entry } }, null, 2);
    case "yaml":
      return renderYaml({ [client.servers]: { [SERVER_NAME]: entry } }).trimEnd();
    case "toml":
      return renderToml([client.servers, SERVER_NAME], entry).trimEnd();
  }
}

/** YAML with a line break at the end. */
export function renderYaml(fields: Fields): string {
  return stringify(fields, { lineWidth: 0 });
}

/** A TOML table with its header, and a line break at the end. */
export function renderToml(path: readonly string[], fields: Fields): string {
  const lines = Object.entries(fields).map(([name, value]) => `${key(name)} = ${inline(value)}\n`);
  return `[${path.map(key).join(".")}]\n${lines.join("")}`;
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
