import http from "node:http";

/**
 * Bytes of a request's line and headers. A query of 2,000 characters has 24,000 bytes when each is
 * an emoji, 32 tags as many; the runtime's own limit of 16 KiB would refuse them without a body.
 */
const MAX_HEADERS = 64 << 10;

/** Lets requests be as long as their parameters may be. Bun has this one setting for all servers. */
export function allowLongRequests(): void {
  // Its types have Node's word for it, which is only to be read there.
  Object.assign(http, { maxHeaderSize: MAX_HEADERS });
}
