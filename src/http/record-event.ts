import { LRUCache } from "lru-cache";
import type { Config } from "../config/config.ts";
import { personOf, type Reach } from "../keys/reach.ts";
import type { Facts, SecurityEvent } from "../security-log/events.ts";
import type { SecurityLog } from "../security-log/security-log.ts";
import { exactAddress } from "./requests/proxy.ts";

/** The details that a route passes; the others come from the request. */
type RouteFacts = Omit<Facts, "via" | "address" | "agent">;

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

/** The last sender of an account. */
interface LastSender {
  /** The name that it gives itself; null if it gives none. */
  name: string | null;
  /** The key of a request. */
  by: string | null;
  at: Date;
  /** Whether it is an agent, and not a program that sends requests, such as curl. */
  isAgent: boolean;
}

/** Accounts whose last agent is remembered, and characters of its name. */
const MAX_ACCOUNTS = 10_000;
const MAX_CHARACTERS = 80;

export type LastAgents = ReturnType<typeof createLastAgents>;

/**
 * Remembers the last agent of each account since the start, or the last request if no agent came, to show people who
 * connect an agent whether it works.
 */
export function createLastAgents({ clock }: { clock: () => number }) {
  // `max` would reserve the room of all accounts at the start.
  const last = new LRUCache<string, LastSender>({
    maxSize: MAX_ACCOUNTS,
    sizeCalculation: () => 1,
  });
  return {
    /**
     * Remembers the agent that sent a message. Without a name it may be any program, except on the local socket.
     * @param name any text
     */
    note(sender: Reach, name: string | null): void {
      const { via } = sender;
      const accountId = personOf(sender);
      // Later messages of an agent may lack its name.
      const known = last.get(accountId);
      const agent = name?.trim().slice(0, MAX_CHARACTERS) || (known?.isAgent && known.name) || null;
      if (agent === null && via !== "local") return;
      last.set(accountId, { name: agent, by: null, at: new Date(clock()), isAgent: true });
    },

    /** Remembers a request with a key or a token, unless an agent is known. */
    noteRequest(sender: Reach, { headers }: Request): void {
      const { via, credential } = sender;
      const accountId = personOf(sender);
      if ((via !== "key" && via !== "token") || last.get(accountId)?.isAgent) return;
      const [name = null] = /^[\w.-]{1,80}/.exec(headers.get("user-agent") ?? "") ?? [];
      last.set(accountId, {
        name,
        by: credential?.by ?? null,
        at: new Date(clock()),
        isAgent: false,
      });
    },

    /** The last agent, or else the last request; null without one. */
    last: (accountId: string) => last.get(accountId) ?? null,
  };
}
