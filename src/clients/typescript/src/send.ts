import { createDeadline, type Deadline } from "./deadline.ts";
import { CtxdError, errorOf } from "./error.ts";

export interface Sending {
  method: string;
  /** Below `/api`, with its query. */
  path: string;
  body?: string | Uint8Array<ArrayBuffer> | undefined;
  headers?: Record<string, string> | undefined;
  /**
   * Whether the same request may be sent again when it is not known what became of it. Otherwise it
   * is only when the server refused it unread.
   */
  isRepeatable: boolean;
  signal?: AbortSignal | undefined;
}

/** Sends a request, again where that may help, and reads its answer. */
export type Send = <Answer>(
  sending: Sending,
  read: (response: Response, patience: Patience) => Promise<Answer>,
) => Promise<Answer>;

/** How long the parts of a long answer are waited for. */
export type Patience = <Part>(next: () => Promise<Part>) => Promise<Part>;

/** What the client needs of `fetch`. */
export type Fetch = (url: string, request: RequestInit) => Promise<Response>;

interface Options {
  url: string;
  key: string;
  fetch: Fetch;
  /** How often a request is sent again. */
  retries: number;
  /** Milliseconds. */
  timeout: number;
}

/** Milliseconds before the first repetition, without the server's word; each one after waits twice as long. */
const FIRST_WAIT = 500;
const LONGEST_WAIT = 8_000;
/** What the server asks to be waited for: an error says longer times to the program. */
const LONGEST_RETRY_AFTER = 60_000;

export function createSend({ url, key, fetch, retries, timeout }: Options): Send {
  const base = `${baseOf(url)}/api`;
  const token = tokenOf(key);

  const attempt: Send = async (sending, read) => {
    const { method, path, body, signal } = sending;
    signal?.throwIfAborted();
    const deadline = createDeadline(timeout, signal);
    const patience: Patience = async (next) => {
      deadline.start();
      try {
        return await next();
      } catch (error) {
        throw failureOf(error, deadline, signal);
      } finally {
        deadline.stop();
      }
    };
    return patience(async () => {
      const response = await fetch(base + path, {
        method,
        headers: { authorization: `Bearer ${token}`, ...sending.headers },
        body: body ?? null,
        // A redirection may lead anywhere, and turns a POST into a GET.
        redirect: "manual",
        signal: deadline.signal,
      });
      if (!response.ok) throw await errorOf(response);
      return read(response, patience);
    });
  };

  const failureOf = (error: unknown, deadline: Deadline, signal: AbortSignal | undefined) => {
    if (error instanceof CtxdError) return error;
    if (signal?.aborted) return signal.reason;
    if (deadline.isOver) {
      const message = `The server did not answer within ${timeout / 1_000} s.`;
      return new CtxdError("timeout", message, { cause: error });
    }
    const message = `The server at ${base} can't be reached, or its answer broke off.`;
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

/** Milliseconds after which to send again; null when that is of no use, or not safe. */
function waitAfter(error: unknown, { isRepeatable }: Sending, repetition: number): number | null {
  if (!(error instanceof CtxdError)) return null;
  const { code, status, retryAfter } = error;
  const isPassing = code === "network" || code === "timeout" || [502, 503, 504].includes(status);
  // Who sends too much is refused before anything is done.
  if (status !== 429 && !(isRepeatable && isPassing)) return null;
  // Not all at the same moment.
  const jitter = Math.random();
  if (retryAfter === undefined) {
    return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** repetition) * (0.5 + jitter / 2);
  }
  const wait = retryAfter * 1_000;
  return wait > LONGEST_RETRY_AFTER ? null : wait + jitter * FIRST_WAIT;
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
  return origin + pathname.replace(/\/+$/, "");
}
