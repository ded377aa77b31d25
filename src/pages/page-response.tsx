/** @jsxRuntime automatic @jsxImportSource #pages */

import { AppError } from "../errors.ts";
import { createPagedStream } from "../http/responses.ts";
import { Markup } from "./jsx-runtime.ts";
import { MessagePage } from "./layout.tsx";

/**
 * The content security policy of all pages. It allows stylesheets, fonts and images of this server. It forbids frames,
 * other hosts, and inline styles and scripts.
 */
const POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";
/** The additional policy of pages with scripts. */
const SCRIPTS = "script-src 'self'; connect-src 'self'";

export interface PageOptions {
  status?: number;
  /** Sources of `form-action`: targets of the forms, including redirects of their responses. */
  formAction?: readonly string[];
  /** Whether the page may run our scripts. Pages for visitors who are not signed in have none. */
  scripts?: boolean;
  headers?: Record<string, string>;
}

/** The response for a page, with its headers. A stream is sent as it is produced. */
export function pageResponse(
  page: Markup | ReadableStream<Uint8Array>,
  options: PageOptions = {},
): Response {
  const { status = 200, formAction = ["'self'"], scripts = false, headers = {} } = options;
  const policy = [POLICY, `form-action ${formAction.join(" ")}`, ...(scripts ? [SCRIPTS] : [])];
  return new Response(page instanceof ReadableStream ? page : `<!doctype html>\n${page}\n`, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy.join("; "),
      // With `no-referrer` a browser would send `Origin: null` with our own forms
      // (https://fetch.spec.whatwg.org/#append-a-request-origin-header).
      "referrer-policy": "same-origin",
      ...headers,
    },
  });
}

/** Marks the place of the streamed parts in a page. Text is escaped, so no other content looks like it. */
export const SLOT = Markup.element("template", { id: "to-come" });

/**
 * The response for a page that `streamPage` streams.
 * @param onEnd called when the last part is sent or the client has gone
 */
export function streamedPage(
  page: Markup,
  parts: AsyncIterable<Markup>,
  onEnd = () => {},
): Response {
  const encoder = new TextEncoder();
  const stream = createPagedStream(streamPage(page, parts, onEnd), (text) => encoder.encode(text));
  // A proxy must not hold the beginning back until the end is there.
  const headers = { "x-accel-buffering": "no" };
  return pageResponse(stream, { headers, scripts: true });
}

/**
 * Streams a page without scripts: its beginning at once, then each part in place of `SLOT`, and its end after the
 * last part.
 */
async function* streamPage(
  page: Markup,
  parts: AsyncIterable<Markup>,
  onEnd: () => void,
): AsyncGenerator<string, void> {
  const [before = "", after = ""] = `<!doctype html>\n${page}\n`.split(`${SLOT}`);
  try {
    yield before;
    for await (const part of parts) yield `${part}`;
    yield after;
  } finally {
    onEnd();
  }
}

/** The title of a page that shows an error. */
export function errorTitle(status: number): string {
  if (status === 404) return "Page not found";
  if (status === 503) return "Not available right now";
  return status >= 500 ? "Server error" : "Request refused";
}

/** A page with an error message and a link to the dashboard. */
export function errorPage(message: string, status: number, headers: Headers): Response {
  const link = { href: "/", label: "Go to the dashboard" };
  const page = <MessagePage title={errorTitle(status)} message={message} link={link} />;
  return pageResponse(page, { status, headers: Object.fromEntries(headers) });
}

/** Whether a browser requests a page, so that an error must be a page instead of JSON. */
export function asksForPage(request: Request): boolean {
  const path = URL.parse(request.url)?.pathname ?? "";
  const isForPrograms = path.startsWith("/api/") || path === "/mcp";
  return !isForPrograms && (request.headers.get("accept") ?? "").includes("text/html");
}

/**
 * Runs the handler of a page. An `AppError` below status 500 becomes an error page; the app handles all other errors.
 */
export async function answerWithPage(
  handle: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await handle();
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    const { status, message, retryAfter } = error;
    const headers = new Headers();
    if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
    return errorPage(message, status, headers);
  }
}

/** Options of routes that the API's documents do not show, such as pages and forms. Their handlers read the body. */
export const PAGE_ROUTE: { parse: ["none"]; detail: { hide: true } } = {
  parse: ["none"],
  detail: { hide: true },
};

/** The result of work, or else the message of an `AppError` below status 500, for a page that shows both. */
export async function orProblem<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; problem?: undefined } | { result: null; problem: string }> {
  try {
    return { result: await work() };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return { result: null, problem: error.message };
  }
}

/** What a page is rendered from, at once or later. */
export type Awaitable<T> = T | Promise<T>;
