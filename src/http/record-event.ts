import { LRUCache } from "lru-cache";
import type { Config } from "../config/config.ts";
import type { Facts, SecurityEvent } from "../security-log/events.ts";
import type { SecurityLog } from "../security-log/security-log.ts";
import { exactAddress } from "./requests/proxy.ts";

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

/** Accounts whose last agent is remembered, and characters of its name. */
const MAX_ACCOUNTS = 10_000;
const MAX_CHARACTERS = 80;

export type LastAgents = ReturnType<typeof createLastAgents>;

/**
 * Remembers the last agent of each account since the start, to show people who connect an agent that it
 * works.
 */
export function createLastAgents({ clock }: { clock: () => number }) {
  // `max` would reserve the room of all accounts at the start.
  const last = new LRUCache<string, { name: string | null; at: Date }>({
    maxSize: MAX_ACCOUNTS,
    sizeCalculation: () => 1,
  });
  return {
    /** @param name any text */
    note(accountId: string, name: string | null): void {
      // Later messages of an agent may lack its name.
      const known = name?.trim().slice(0, MAX_CHARACTERS) || last.get(accountId)?.name || null;
      last.set(accountId, { name: known, at: new Date(clock()) });
    },

    /** The last agent, null without one: the name that it gives itself, and when it sent a message. */
    last: (accountId: string) => last.get(accountId) ?? null,
  };
}
