import type { Config } from "../config.ts";
import type { Facts, SecurityEvent } from "../security-log/events.ts";
import type { SecurityLog } from "../security-log/security-log.ts";
import { exactAddress } from "./client-address.ts";

/** What a route tells of an event: the request has the rest. */
export type RouteFacts = Omit<Facts, "via" | "address" | "agent">;

/**
 * Tells the security log what a request has done, or has tried. Routes get it as an argument, and
 * call it when it has happened:
 * `record(request, "key_created", { accountId, subjectId: key.id, subject: key.name })`.
 * Where it comes from (address, browser, way) is taken from the request. It never fails and never
 * waits; `Facts` says what may be told, and `EVENTS` is where a new event gets its name.
 */
export type RecordEvent = (request: Request, event: SecurityEvent, facts: RouteFacts) => void;

/** What programs ask, and not people at a browser. */
const PROGRAMS = /^\/(?:api\/(?!oauth\/authorize$)|mcp$|token$|register$|revoke$)/;

/**
 * Makes `record`.
 * @param isLocal whether a request came by the local socket
 */
export function createRecord({
  securityLog,
  config,
  isLocal,
}: {
  securityLog: Pick<SecurityLog, "record">;
  config: Pick<Config, "trustProxy">;
  isLocal: (request: Request) => boolean;
}): RecordEvent {
  const wayOf = (request: Request) => {
    if (isLocal(request)) return "local";
    return PROGRAMS.test(URL.parse(request.url)?.pathname ?? "") ? "api" : "browser";
  };

  return (request, event, facts) =>
    securityLog.record(event, {
      ...facts,
      via: wayOf(request),
      address: isLocal(request) ? null : exactAddress(request, config),
      agent: request.headers.get("user-agent"),
    });
}
