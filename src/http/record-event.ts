import type { Config } from "../config/config.ts";
import type { Facts, SecurityEvent } from "../security-log/events.ts";
import type { SecurityLog } from "../security-log/security-log.ts";
import { exactAddress } from "./client-address.ts";

/** The details that a route passes; the others come from the request. */
export type RouteFacts = Omit<Facts, "via" | "address" | "agent">;

/**
 * Records in the security log what a request has done or tried. Routes receive it as an argument, and
 * call it afterwards: `record(request, "key_created", { accountId, subjectId: key.id, subject: key.name
 * })`. The origin (address, browser, way) comes from the request. It never fails and never waits.
 * `Facts` says which details are allowed; `EVENTS` has the names.
 */
export type RecordEvent = (request: Request, event: SecurityEvent, facts: RouteFacts) => void;

/** Paths that programs use, and not people with a browser. */
const PROGRAMS = /^\/(?:api\/(?!oauth\/authorize$)|mcp$|token$|register$|revoke$)/;

/** Creates `record`. @param isLocal whether a request used the local socket */
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
