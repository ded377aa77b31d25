import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { createRateLimit, type RateLimit } from "../rate-limit.ts";
import { clientAddress } from "./client-address.ts";
import type { Connections } from "./proxy.ts";

/** Seconds in which what was used of a limit comes back. */
const WINDOW = 60;

/**
 * Requests that may come at once, and again in every window. They stop what runs wild and nothing
 * else: the embedding engine is the limit of an agent or an import at full speed, at a tenth of
 * these, and queues for each kind of work are bounded by themselves.
 */
const POLICIES = {
  /** What only reads, by key. */
  search: 120_000,
  /** What changes memories, by key; a batch counts as one. */
  write: 60_000,
  /** Messages of agents, by key. */
  mcp: 60_000,
  /** All of these by address, before anybody's key is looked at. */
  address: 240_000,
  /** Signing in and OAuth, by address. Passwords and registrations have tighter limits of their own. */
  "sign-in": 1_200,
} as const;
type Policy = keyof typeof POLICIES;

const SIGN_IN =
  /^\/(api\/oauth\/|oauth\/|(authorize|token|register|revoke|sign-in|sign-up|join|setup|proof)\b)/;
const LIMITED = /^\/(api\/(?!health(\/live)?$|metrics$)|mcp\b)/;

type Handle = (request: Request, ...rest: unknown[]) => unknown;

/**
 * Limits of how many requests one address and one key may send. Where they are off, those of signing
 * in stay: a network that is trusted has people who guess too.
 */
export type Limits = ReturnType<typeof createLimits>;

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
  /** The limit that each request came under last. */
  const counted = new WeakMap<Request, { policy: Policy; who: string }>();

  const take = (request: Request, policy: Policy, who: string) => {
    counted.set(request, { policy, who });
    const wait = limits[policy].take(who);
    if (wait === null) return;
    throw new AppError("rate_limited", `Too many requests. Try again in ${wait} s.`, {
      retryAfter: wait,
    });
  };

  return {
    /**
     * Counts a request that came over the network against its sender's address.
     * @throws AppError `rate_limited`
     */
    countAddress(request: Request, server: Connections | null): void {
      if (server === null) return;
      const path = URL.parse(request.url)?.pathname ?? "";
      const ordinary = config.rateLimit && LIMITED.test(path) ? "address" : null;
      const policy = SIGN_IN.test(path) ? "sign-in" : ordinary;
      if (policy) take(request, policy, clientAddress(request, config));
    },

    /**
     * Counts a request against the key or token that came with it.
     * @param holder a name of the key, or of whom the token speaks for
     * @throws AppError `rate_limited`
     */
    countHolder(request: Request, holder: string): void {
      if (!config.rateLimit) return;
      const path = URL.parse(request.url)?.pathname ?? "";
      const isRead = request.method === "GET" || request.method === "HEAD";
      take(request, path === "/mcp" ? "mcp" : isRead ? "search" : "write", holder);
    },

    /**
     * Has answers tell the limit and what is left of it, as draft-ietf-httpapi-ratelimit-headers-10
     * says.
     */
    announce:
      (handle: Handle) =>
      async (request: Request, ...rest: unknown[]) => {
        const response = await handle(request, ...rest);
        const known = counted.get(request);
        if (known && response instanceof Response) {
          const { policy, who } = known;
          const { left, full } = limits[policy].state(who);
          const { headers } = response;
          headers.set("ratelimit-policy", `"${policy}";q=${policies[policy]};w=${WINDOW}`);
          headers.set("ratelimit", `"${policy}";r=${left};t=${full}`);
        }
        return response;
      },
  };
}
