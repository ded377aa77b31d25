import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import { createRateLimit, type RateLimit } from "../../timing/rate-limit.ts";
import { type Connections, clientAddress } from "../requests/proxy.ts";
import { beforeAnswer } from "./turns.ts";

/** Seconds in which a used-up limit is restored. */
const WINDOW = 60;

/**
 * Requests that are allowed at once, and again in every window. They stop only programs that run wild.
 * An agent or import at full speed reaches a tenth of them, because embedding is slower. The queues of
 * each kind of work have limits of their own.
 */
const POLICIES = {
  /** Requests that only read, per key. */
  search: 120_000,
  /** Requests that change memories, per key; a batch counts as one. */
  write: 60_000,
  /** Messages of agents, per key. */
  mcp: 60_000,
  /** All of these per address, counted before the key is checked. */
  address: 240_000,
  /** Sign-in and OAuth, per address. Passwords and registrations have tighter limits of their own. */
  "sign-in": 1_200,
} as const;
type Policy = keyof typeof POLICIES;

/** Bytes of a request that count like one more request, since its texts may have to be embedded. */
const BYTES = 1_000;
/** The most that one request counts. A longer one also waits for the queues. */
const MAX_COUNT = 1_000;

/** How often a request counts for its key: embedding a long text takes as long as many short ones. */
function countOf({ url, headers }: Request): number {
  const bytes = url.length + (Number(headers.get("content-length")) || 0);
  return Math.min(MAX_COUNT, 1 + Math.floor(bytes / BYTES));
}

const SIGN_IN =
  /^\/(api\/oauth\/|oauth\/|(authorize|token|register|revoke|sign-in|sign-up|join|setup|proof)\b)/;
const LIMITED = /^\/(api\/(?!health(\/live)?$|metrics$)|mcp\b)/;

/**
 * Limits the requests of each address and each key. If limits are switched off, the limits of sign-in
 * remain, because people in a trusted network guess too.
 */
export function createLimits({
  config,
  clock,
  policies = POLICIES,
}: {
  config: Pick<Config, "rateLimit" | "trustProxy">;
  clock: () => number;
  policies?: Record<Policy, number>;
}) {
  const limitOf = (policy: Policy) =>
    createRateLimit({ tries: policies[policy], period: WINDOW * 1_000, clock });
  const limits: Record<Policy, RateLimit> = {
    search: limitOf("search"),
    write: limitOf("write"),
    mcp: limitOf("mcp"),
    address: limitOf("address"),
    "sign-in": limitOf("sign-in"),
  };
  /** The limit that counted each request last. */
  const counted = new WeakMap<Request, { policy: Policy; who: string }>();

  const take = (request: Request, policy: Policy, who: string, count = 1) => {
    counted.set(request, { policy, who });
    const wait = limits[policy].take(who, count);
    if (wait === null) return;
    throw new AppError("rate_limited", `Too many requests. Try again in ${wait} s.`, {
      retryAfter: wait,
    });
  };

  return {
    /** Counts a request from the network for its client's address. @throws AppError `rate_limited` */
    countAddress(request: Request, server: Connections | null): void {
      if (server === null) return;
      const path = URL.parse(request.url)?.pathname ?? "";
      const ordinary = config.rateLimit && LIMITED.test(path) ? "address" : null;
      const policy = SIGN_IN.test(path) ? "sign-in" : ordinary;
      if (policy) take(request, policy, clientAddress(request, config));
    },

    /**
     * Counts a request for its key or token.
     * @param holder a name for the key, or for the holder of the token
     * @throws AppError `rate_limited`
     */
    countHolder(request: Request, holder: string): void {
      if (!config.rateLimit) return;
      const path = URL.parse(request.url)?.pathname ?? "";
      const isRead = request.method === "GET" || request.method === "HEAD";
      const policy = path === "/mcp" ? "mcp" : isRead ? "search" : "write";
      take(request, policy, holder, countOf(request));
    },

    /** Adds the limit and its remainder to answers (draft-ietf-httpapi-ratelimit-headers-10). */
    addLimitHeaders: beforeAnswer(({ headers }, request) => {
      const known = counted.get(request);
      if (!known) return;
      const { policy, who } = known;
      const { left, full } = limits[policy].state(who);
      headers.set("ratelimit-policy", `"${policy}";q=${policies[policy]};w=${WINDOW}`);
      headers.set("ratelimit", `"${policy}";r=${left};t=${full}`);
    }),
  };
}
