import type { Access } from "./access-rows.ts";

/** A request about what an account holds. */
export interface Case {
  /** Method and path as the server has it, or `MCP` and a tool. */
  readonly route: string;
  readonly path: string;
  readonly init: RequestInit;
}

type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A page or a document. @param paths by default the route itself */
export function reads(access: Access, route: string, ...paths: string[]): Case[] {
  return (paths.length > 0 ? paths : [route]).map((path) => ({
    route: `GET ${route}`,
    path,
    init: { headers: headersOf(access, path), redirect: "manual" },
  }));
}

/** Sends a form of the dashboard. */
export function sends(access: Access, route: string, form: Fields = {}, path = route): Case {
  const fields = Object.entries(form).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  const body = new URLSearchParams([["form_token", access.token], ...fields]);
  const init: RequestInit = { method: "POST", headers: headersOf(access, path), body };
  return { route: `POST ${route}`, path, init: { ...init, redirect: "manual" } };
}

/** Asks the API. @param json the body, or the lines of one */
export function asks(access: Access, route: string, json?: unknown, to?: string): Case {
  const [method = "", itself = ""] = route.split(" ");
  const path = to ?? itself;
  const isLines = path.endsWith("/import");
  const body = isLines ? [json].flat().map((line) => JSON.stringify(line)) : [JSON.stringify(json)];
  const type = isLines ? "application/x-ndjson" : "application/json";
  return {
    route,
    path,
    init: {
      method,
      headers: { ...headersOf(access, path), ...(json !== undefined && { "content-type": type }) },
      ...(json !== undefined && { body: body.join("\n") }),
    },
  };
}

/** Calls an MCP tool, or another method of MCP. */
export function calls(access: Access, name: string, args: object = {}): Case {
  const isMethod = name.includes("/");
  const message = isMethod
    ? { method: name, params: args }
    : { method: "tools/call", params: { name, arguments: args } };
  const { init } = asks(access, "POST /mcp", { jsonrpc: "2.0", id: 1, ...message });
  const headers = { ...init.headers, accept: "application/json, text/event-stream" };
  return { route: `MCP ${name}`, path: "/mcp", init: { ...init, headers } };
}

function headersOf({ key, session }: Access, path: string): Record<string, string> {
  const isProgram = path.startsWith("/api/") || path === "/mcp";
  return isProgram ? { authorization: `Bearer ${key}` } : { cookie: `ctxd-session=${session}` };
}
