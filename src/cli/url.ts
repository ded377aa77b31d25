import { InvalidArgumentError } from "commander";

/** An address of the web, as a flag has it. */
export function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new InvalidArgumentError("Use an address such as http://localhost:7733.");
}

/** The address of a server, or of its MCP endpoint. */
export function parseOrigin(text: string): URL {
  const url = parseUrl(text);
  if (/^\/(mcp\/?)?$/.test(url.pathname) && !url.username && !url.search && !url.hash) return url;
  throw new InvalidArgumentError("Use the address alone, such as https://memory.example.com.");
}
