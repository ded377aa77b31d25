import { rawRequest } from "../support/raw-http.ts";
import type { Text } from "./hostile-texts.ts";
import type { ProbedServer } from "./probed-server.ts";

/** A request that could hold up a server, as bytes. */
export interface Hostile {
  readonly name: string;
  /** Built when it is needed: all requests together would take gigabytes. */
  readonly request: () => Uint8Array;
}

/** Builds requests to a server, with the headers that they need. */
export function requestsTo(server: Pick<ProbedServer, "key" | "session" | "origin">) {
  const bearer = { authorization: `Bearer ${server.key}` };
  const cookie = { cookie: `ctxd-session=${server.session}`, origin: server.origin };
  const send = (line: string, headers: Record<string, string>, body: string | Uint8Array = "") => {
    const bytes = Buffer.from(body);
    const length = { host: new URL(server.origin).host, "content-length": String(bytes.length) };
    return Buffer.concat([rawRequest(line, { ...length, ...headers }), bytes]);
  };
  const all = (
    group: string,
    line: string,
    headers: Record<string, string>,
    bodies: Record<string, Text>,
  ): Hostile[] =>
    Object.entries(bodies).map(([name, body]) => ({
      name: `${group}: ${name}`,
      request: () => send(line, headers, body()),
    }));
  return {
    send,
    all,
    bearer,
    cookie,
    asJson: { ...bearer, "content-type": "application/json" },
    asLines: { ...bearer, "content-type": "application/x-ndjson" },
    asForm: { "content-type": "application/x-www-form-urlencoded" },
  };
}
