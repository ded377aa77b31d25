import type { Markup } from "./jsx-runtime.ts";

/**
 * What a page may do: show our stylesheet and font, and send its forms to where they belong. No frame, no
 * other host, and nothing that stands in the page itself.
 */
const POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";
/** What a page with our scripts may do beside. */
const SCRIPTS = "script-src 'self'; connect-src 'self'";

interface PageOptions {
  status?: number;
  /** Sources of `form-action`: where forms lead, redirects of the answer included. */
  formAction?: readonly string[];
  /** Whether our scripts run on it; on pages that strangers see there are none. */
  scripts?: boolean;
  headers?: Record<string, string>;
}

/** A page as an answer, with the headers that belong to one. A stream is sent as it comes. */
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
      // By `no-referrer` a browser would send `Origin: null` with our own forms
      // (https://fetch.spec.whatwg.org/#append-a-request-origin-header).
      "referrer-policy": "same-origin",
      ...headers,
    },
  });
}
