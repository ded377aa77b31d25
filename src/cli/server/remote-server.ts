import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ServerAway } from "../../capture/unsent.ts";
import type { Config } from "../../config/config.ts";
import { errorCode } from "../../errors.ts";
import type { Server } from "../../local/bridge.ts";
import { replaceFile } from "../../system/files.ts";

/** A tool waits for the model; an agent waits for the tool. */
const PATIENCE = { beginning: 20_000, end: 60_000 };
/** Bytes of an answer. Those of ctxd to agents are far shorter. */
const MAX_ANSWER_BYTES = 16 << 20;
/** Characters of an error message that is shown. */
const MAX_MESSAGE_LENGTH = 1_000;
/** Milliseconds after the first failure at which a server is tried again: one that starts again is back by then. */
const ATTEMPTS_MS = [100, 400, 1_400, 4_400];
/** Milliseconds for which a server that has failed all attempts counts as away. */
const AWAY_MS = 1_000;
/** The method whose answer goes on until the agent ends it (2026-07-28, Subscriptions). */
const ENDLESS_METHOD = "subscriptions/listen";

/** The folder in the data folder with what is kept for remote servers. */
const FOLDER = "servers";
const KEY = "key";

/** The folder with what is kept for one server: its key, and what must still be sent to it. */
export function serverFolder({ dataDir }: Pick<Config, "dataDir">, { origin }: URL): string {
  return join(dataDir, FOLDER, encodeURIComponent(origin));
}

/** The addresses of the servers for which something is kept. */
export function keptServers({ dataDir }: Pick<Config, "dataDir">): URL[] {
  const folder = join(dataDir, FOLDER);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => /^https?%3A%2F%2F/.test(name))
    .flatMap((name) => URL.parse(decodeURIComponent(name)) ?? []);
}

/** The key that is kept for a server; null without one. */
export function keptKey(config: Pick<Config, "dataDir">, url: URL): string | null {
  try {
    return readFileSync(join(serverFolder(config, url), KEY), "utf8").trim() || null;
  } catch {
    return null;
  }
}

/** Keeps the key of a server in a file that only this user can read, in place of an earlier one. */
export function keepKey(config: Pick<Config, "dataDir">, url: URL, key: string): Promise<void> {
  return replaceFile(join(serverFolder(config, url), KEY), `${key}\n`);
}

/** Forgets what is kept for a server. */
export function forgetServer(config: Pick<Config, "dataDir">, url: URL): void {
  rmSync(serverFolder(config, url), { recursive: true, force: true });
  const folder = join(config.dataDir, FOLDER);
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

/** Says that no key is kept for a server, and how to change that. */
export function missingKey({ origin }: URL): string {
  return `No API key is kept here for ${origin}: run ctxd connect AGENT --url ${origin} --key.`;
}

/**
 * Sends a request with an API key. Redirects are not followed: they could lead the key elsewhere.
 * @param address of the server, without a slash at its end
 */
export function sendWithKey(address: string, key: string, path: string, init: RequestInit) {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${key}`);
  return fetch(`${address}${path}`, { ...init, headers, redirect: "manual" });
}

/** The error message in an answer of ctxd. */
export async function messageIn(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  const message = body && Object(Object(body).error).message;
  if (typeof message === "string") return message.slice(0, MAX_MESSAGE_LENGTH);
  return `The server answered ${response.status}.`;
}

/**
 * A remote server, as a bridge and hooks see it. What it answers is limited in time and bytes. An answer that is not one
 * of ctxd's is replaced by one whose error message says what is wrong.
 * @param keyOf the API key, for each request, because the person may replace it; null without one
 * @param patience milliseconds until an answer must have begun, and until it must have ended
 */
export function createRemoteServer(
  url: URL,
  keyOf: () => string | null,
  patience = PATIENCE,
): Server {
  /** When it failed for the first and for the last time since it answered, in `performance.now()` time. */
  let awaySince: number | null = null;
  let failedAt = 0;
  let reason: string | null = null;

  const send = async (path: string, init: RequestInit, key: string): Promise<Response> => {
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(new DOMException("late", "TimeoutError")),
      patience.beginning,
    );
    const isEndless = new Headers(init.headers).get("mcp-method") === ENDLESS_METHOD;
    const signals = [late.signal, ...(init.signal ? [init.signal] : [])];
    if (!isEndless) signals.push(AbortSignal.timeout(patience.end));
    try {
      return await sendWithKey(url.origin, key, path, {
        ...init,
        signal: AbortSignal.any(signals),
      });
    } catch (cause) {
      const isLate = cause instanceof Error && cause.name === "TimeoutError";
      // A further attempt would take as long.
      if (isLate) awaySince = Number.NEGATIVE_INFINITY;
      reason = describeFailure(url, isLate ? null : errorCode(cause));
      throw new ServerAway(reason, { cause });
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    async connect() {
      if (awaySince === null) return;
      const now = performance.now();
      const elapsed = now - awaySince;
      const next = ATTEMPTS_MS.find((at) => at > elapsed);
      if (next !== undefined) return Bun.sleep(next - elapsed);
      if (now - failedAt < AWAY_MS) throw new ServerAway(reason ?? describeFailure(url, null));
    },

    async request(path, init) {
      const key = keyOf();
      if (key === null) return refusal(missingKey(url));
      const response = await send(path, init, key);
      awaySince = null;
      reason = null;
      const problem = problemOf(url, response);
      if (problem === null) return limited(response);
      void response.body?.cancel().catch(() => {});
      return refusal(problem);
    },

    lastFailure: () => reason,

    forget() {
      failedAt = performance.now();
      awaySince ??= failedAt;
    },

    close() {},
  };
}

/** @param code the system's reason; null when the time is over */
function describeFailure({ origin }: URL, code: string | null): string {
  if (code === null) return `${origin} does not answer in time.`;
  return `${origin} can't be reached (${code || "no connection"}): ctxd doctor --url ${origin} says why.`;
}

/** What is wrong with an answer; null for one of ctxd, also for an error. */
function problemOf({ origin }: URL, { status, headers }: Response): string | null {
  if (status >= 300 && status < 400) {
    return `${origin} redirects to another address: use that one instead.`;
  }
  if (status === 401) {
    return `${origin} does not accept the API key: create another there, and run ctxd connect AGENT --url ${origin} --key.`;
  }
  const [type = ""] = /^[\w.+-]+\/[\w.+-]+/.exec(headers.get("content-type") ?? "") ?? [];
  const isOurs = status === 202 || type === "application/json" || type === "text/event-stream";
  if (isOurs) return null;
  return `${origin} is no server of ctxd, or not ready: it answered ${status} (${type.slice(0, 40) || "no type"}).`;
}

/** An answer as the server gives it with an error. */
function refusal(message: string): Response {
  return Response.json({ error: { message } }, { status: 502 });
}

function limited({ body, status, headers }: Response): Response {
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) controller.error(new Error("The server's answer is too long."));
      else controller.enqueue(chunk);
    },
  });
  const type = headers.get("content-type");
  return new Response(body?.pipeThrough(limit) ?? null, {
    status,
    headers: { ...(type !== null && { "content-type": type }) },
  });
}
