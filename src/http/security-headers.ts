/**
 * Headers of every answer. Answers hold private data: no caching, no frames, no guessing of their type.
 * A page that loads anything sets its own Content-Security-Policy.
 */
export const SECURITY_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;
