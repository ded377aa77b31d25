import type { Markup } from "./jsx-runtime.ts";

/**
 * What a page may do: show our stylesheet, and send its forms to where they belong. No script, no
 * frame, no other host.
 */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

interface PageOptions {
  status?: number;
  /** Sources of `form-action`: where forms lead, redirects of the answer included. */
  formAction?: readonly string[];
  headers?: Record<string, string>;
}

/** A page as an answer, with the headers that belong to one. */
export function pageResponse(page: Markup, options: PageOptions = {}): Response {
  const { status = 200, formAction = ["'self'"], headers = {} } = options;
  return new Response(`<!doctype html>\n${page}\n`, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `${POLICY}; form-action ${formAction.join(" ")}`,
      // By `no-referrer` a browser would send `Origin: null` with our own forms
      // (https://fetch.spec.whatwg.org/#append-a-request-origin-header).
      "referrer-policy": "same-origin",
      ...headers,
    },
  });
}
