/**
 * Redirects a browser to another page, which it requests with `GET`.
 * @param cookies `Set-Cookie` headers
 */
export function seeOther(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** Makes a browser send its form again, to another path of this server. */
export function againWithForm(location: string): Response {
  return new Response(null, { status: 307, headers: { location } });
}

export type Etags = ReturnType<typeof createEtags>;

/**
 * Creates and compares `ETag` values, which do not help to guess a body: callers that may only write receive them too.
 * @param readKey a secret of the server, read once
 */
export function createEtags(readKey: () => Promise<string>) {
  let make: ((body: unknown) => string) | undefined;
  return {
    /**
     * Returns a function that computes the strong `ETag` of a body (RFC 9110, section 8.8.3): equal
     * bodies have equal tags.
     */
    async maker() {
      if (make) return make;
      const key = await readKey();
      make = (body) => {
        const hasher = new Bun.CryptoHasher("sha256", key).update(JSON.stringify(body));
        return `"${hasher.digest("base64url").slice(0, 22)}"`;
      };
      return make;
    },
    /** Whether an `If-Match` header (RFC 9110, section 13.1.1) accepts this tag. */
    matches: (ifMatch: string, etag: string) =>
      ifMatch.split(",").some((candidate) => ["*", etag].includes(candidate.trim())),
  };
}

/** Bytes of a body that are sent together. */
const PART = 64 << 10;

/**
 * The parts of a long text. A stream that has taken a part asks for the next one only when the client reads. So who
 * creates the parts knows how far the client has read.
 */
export function* partsOf(body: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < body.length; start += PART) yield body.subarray(start, start + PART);
}

/**
 * A body that is created page by page, as fast as the client reads it. A client that reads nothing for
 * `patience` milliseconds is disconnected, so that it does not hold the resources of a page forever.
 */
export function createPagedStream<Page>(
  pages: AsyncGenerator<Page, void>,
  encode: (page: Page) => Uint8Array,
  patience = 300_000,
): ReadableStream<Uint8Array> {
  let giveUp: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream({
    // Called only when there is room.
    async pull(controller) {
      clearTimeout(giveUp);
      const { value, done } = await pages.next();
      if (done) return controller.close();
      controller.enqueue(encode(value));
      giveUp = setTimeout(() => {
        void pages.return();
        controller.error(new Error("the client does not read"));
      }, patience);
    },
    async cancel() {
      clearTimeout(giveUp);
      await pages.return();
    },
  });
}
