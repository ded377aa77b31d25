import { createDeadline, type Deadline } from "./deadline.ts";
import { CtxdError, errorOf } from "./error.ts";

export interface Sending {
  method: string;
  /** Below `/api`, with its query. */
  path: string;
  body?: string | Uint8Array<ArrayBuffer> | undefined;
  headers?: Record<string, string> | undefined;
  /**
   * Whether the request may be repeated when its outcome is unknown. Other requests are repeated only
   * when the server refused them unread.
   */
  isRepeatable: boolean;
  signal?: AbortSignal | undefined;
}

/** Sends a request, repeats it when that may help, and reads its response. */
export type Send = <Answer>(
  sending: Sending,
  read: (response: Response, withDeadline: WithDeadline) => Promise<Answer>,
) => Promise<Answer>;

/** Limits the time to wait for each part of a long response. */
export type WithDeadline = <Part>(next: () => Promise<Part>) => Promise<Part>;

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, request: RequestInit) => Promise<Response>;

interface Options {
  url: string;
  key: string;
  /** The space of all requests that name none. */
  space: string | undefined;
  fetch: Fetch;
  /** How often a request is repeated. */
  retries: number;
  /** Milliseconds. */
  timeout: number;
}

/** Milliseconds before the first repetition when the server gives no time. The wait doubles each time. */
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8_000;
/** The longest `Retry-After` to wait for. With a longer one the call fails. */
const MAX_RETRY_AFTER_MS = 60_000;

export function createSend({ url, key, space, fetch, retries, timeout }: Options): Send {
  const base = `${baseOf(url)}/api`;
  const token = tokenOf(key);
  const inSpace = space === undefined ? {} : { "ctxd-space": encodeURIComponent(space) };

  const attempt: Send = async (sending, read) => {
    const { method, path, body, signal } = sending;
    signal?.throwIfAborted();
    const deadline = createDeadline(timeout, signal);
    const withDeadline: WithDeadline = async (next) => {
      deadline.start();
      try {
        return await next();
      } catch (error) {
        throw failureOf(error, deadline, signal);
      } finally {
        deadline.stop();
      }
    };
    return withDeadline(async () => {
      const response = await fetch(base + path, {
        method,
        headers: { authorization: `Bearer ${token}`, ...inSpace, ...sending.headers },
        body: body ?? null,
        // A redirect may lead to any server, and turns a POST into a GET.
        redirect: "manual",
        signal: deadline.signal,
      });
      if (!response.ok) throw await errorOf(response);
      return read(response, withDeadline);
    });
  };

  const failureOf = (error: unknown, deadline: Deadline, signal: AbortSignal | undefined) => {
    if (error instanceof CtxdError) return error;
    if (signal?.aborted) return signal.reason;
    if (deadline.isOver) {
      const message = `The server did not answer within ${timeout / 1_000} s.`;
      return new CtxdError("timeout", message, { cause: error });
    }
    const message = `The server at ${base} can't be reached, or its response was cut off.`;
    return new CtxdError("network", message, { cause: error });
  };

  return async (sending, read) => {
    for (let repetition = 0; ; repetition++) {
      try {
        return await attempt(sending, read);
      } catch (error) {
        const wait = repetition < retries ? waitAfter(error, sending, repetition) : null;
        if (wait === null) throw error;
        await sleep(wait, sending.signal);
      }
    }
  };
}

/** Milliseconds to wait before a repetition; null when a repetition is useless or unsafe. */
function waitAfter(error: unknown, { isRepeatable }: Sending, repetition: number): number | null {
  if (!(error instanceof CtxdError)) return null;
  const { code, status, retryAfter } = error;
  const isPassing = code === "network" || code === "timeout" || [502, 503, 504].includes(status);
  // With status 429 the server has done nothing, so every request may be repeated.
  if (status !== 429 && !(isRepeatable && isPassing)) return null;
  // Spreads the repetitions of several clients.
  const jitter = Math.random();
  if (retryAfter === undefined) {
    return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** repetition) * (0.5 + jitter / 2);
  }
  const wait = retryAfter * 1_000;
  return wait > MAX_RETRY_AFTER_MS ? null : wait + jitter * FIRST_WAIT_MS;
}

/** @throws the reason of a signal that comes meanwhile */
function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, milliseconds);
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}

/** @throws TypeError for what no header can carry */
function tokenOf(key: string): string {
  const token = key.trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new TypeError("key must be an API key as `ctxd key create` prints it, or an access token.");
}

/** @throws TypeError */
function baseOf(url: string): string {
  const { protocol, origin, pathname } = new URL(url);
  if (!/^https?:$/.test(protocol)) throw new TypeError("url must begin with http:// or https://.");
  return origin + pathname.replace(/(?<!\/)\/+$/, "");
}
