import http from "node:http";

/**
 * Bytes of a request's line and headers. A query of 2,000 characters takes 24,000 bytes if each is an
 * emoji, and so do 32 tags. Bun's own limit is 16 KiB and refuses such requests without a body.
 */
const MAX_HEADERS = 64 << 10;

/** Allows requests with the longest parameters. In Bun this setting applies to all servers. */
export function allowLongRequests(): void {
  // Node's types say that this is read-only.
  Object.assign(http, { maxHeaderSize: MAX_HEADERS });
}
