import { stringify } from "yaml";
import { type Client, type Fields, SERVER_NAME, type Value } from "./client.ts";

/** An entry as the client's file has it, with what is around it: for people to paste. */
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

/** Lines of YAML, the last one ended. */
export function renderYaml(fields: Fields): string {
  return stringify(fields, { lineWidth: 0 });
}

/** A table of TOML under its header, the last line ended. */
export function renderToml(path: readonly string[], fields: Fields): string {
  const lines = Object.entries(fields).map(([name, value]) => `${key(name)} = ${inline(value)}\n`);
  return `[${path.map(key).join(".")}]\n${lines.join("")}`;
}

/** A value of TOML on one line. */
export function inline(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([name, each]) => `${key(name)} = ${inline(each)}`);
    return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
  }
  // JSON's escapes are those of TOML's basic strings, too.
  return JSON.stringify(value);
}

function key(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}
