import { stringify } from "yaml";
import { type Client, type Fields, SERVER_NAME, type Value } from "./client.ts";

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
