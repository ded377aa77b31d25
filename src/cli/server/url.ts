import { InvalidArgumentError } from "commander";
import type { Config } from "../../config/config.ts";
import { isLocalhost } from "../../http/requests/proxy.ts";
import { CommandError } from "../terminal.ts";

/** Parses a flag whose value is a web address. */
export function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new InvalidArgumentError("Use an address such as http://localhost:7733.");
}

/** Parses a flag whose value is the address of a server, or of its MCP endpoint. */
export function parseOrigin(text: string): URL {
  const url = parseUrl(text);
  if (/^\/(mcp\/?)?$/.test(url.pathname) && !url.username && !url.search && !url.hash) return url;
  throw new InvalidArgumentError("Use the address alone, such as https://memory.example.com.");
}

/**
 * Refuses to send an API key unencrypted over the network. The server has the same rule.
 * @throws CommandError for plain HTTP to another machine
 */
export function requireEncryption(
  { protocol, hostname, origin }: URL,
  { allowHttp }: Pick<Config, "allowHttp">,
): void {
  if (protocol === "https:" || isLocalhost(hostname) || allowHttp) return;
  throw new CommandError(
    `The key would reach ${origin} unencrypted: use https, or set CTXD_ALLOW_HTTP=true for a trusted network.`,
  );
}
