import { AppError } from "../../errors.ts";
import { createFairShares } from "../../timing/fair-shares.ts";
import { createPagedStream, partsOf } from "../responses.ts";
import type { Turns } from "./turns.ts";

/** Bytes that large bodies and answers may hold while they are sent. */
const BYTES = 256 << 20;
/** Bytes of an answer that the buffers of a connection take. Such answers are not counted. */
const SMALL_ANSWER = 256 << 10;
/** Bytes of a large answer that are sent in a millisecond, as far as the turn of its request is concerned. */
const SENT_PER_MS = 100 << 10;
/** Bytes of a body that is not counted. */
const SMALL_BODY = 1 << 20;
/** Bytes that an export holds: a page with the longest texts. */
const EXPORT = 16 << 20;
/** The most bytes of a memory in an answer without its text and without escapes. */
const FIELDS = 8 << 10;

type Caller = { readonly accountId: string };

export type Room = ReturnType<typeof createRoom>;

/**
 * Bounds the memory of bodies that clients send slowly, and of answers that they do not read, with a fair share for each
 * account. One body or answer always has room. Sending a large answer is work too, by which the turn of its request is
 * longer.
 * @param bytes for all accounts
 */
export function createRoom({ prolong }: Pick<Turns, "prolong">, bytes = BYTES) {
  const shares = createFairShares(bytes);

  /** Returns a function that gives the room back. It is also given back when the client disconnects. */
  const take = ({ accountId }: Caller, size: number, { signal }: Request): (() => void) => {
    if (shares.taken(accountId) > 0 && !shares.allows([accountId], size)) {
      throw new AppError(
        "rate_limited",
        "This account has too many large requests at once: wait for their answers and read them.",
        { retryAfter: 1 },
      );
    }
    shares.add([accountId], size);
    let isTaken = true;
    const giveBack = (): void => {
      if (isTaken) shares.add([accountId], -size);
      isTaken = false;
    };
    signal.addEventListener("abort", giveBack, { once: true });
    // A signal that was aborted before fires no event.
    if (signal.aborted) giveBack();
    return giveBack;
  };

  async function* endingWith<Page>(end: () => void, pages: AsyncIterable<Page> | Iterable<Page>) {
    try {
      yield* pages;
    } finally {
      end();
    }
  }

  return {
    /**
     * Reads a body, which has room until it has arrived.
     * @param maxBytes bytes of a body whose length the client does not send
     * @throws AppError `rate_limited`
     */
    async receive<Body>(
      caller: Caller,
      request: Request,
      maxBytes: number,
      read: (request: Request) => Promise<Body>,
    ): Promise<Body> {
      const size = Math.min(maxBytes, Number(request.headers.get("content-length") ?? maxBytes));
      if (size <= SMALL_BODY) return read(request);
      const giveBack = take(caller, size, request);
      return read(request).finally(giveBack);
    },

    /** The pages of an export, which has room until it ends. @throws AppError `rate_limited` */
    hold: <Page>(caller: Caller, request: Request, pages: AsyncIterable<Page>) =>
      endingWith(take(caller, EXPORT, request), pages),

    /**
     * Returns the response for an answer that is large, with room for it until the client has read it; undefined for
     * any other answer.
     * @throws AppError `rate_limited`
     */
    respond(caller: Caller, request: Request, answer: unknown, status = 200) {
      if (!mayBeLarge(answer)) return;
      const body = Buffer.from(JSON.stringify(answer));
      const init = { status, headers: { "content-type": "application/json" } };
      if (body.length <= SMALL_ANSWER) return new Response(body, init);
      const parts = endingWith(take(caller, body.length, request), partsOf(body));
      setTimeout(prolong(request), body.length / SENT_PER_MS);
      return new Response(
        createPagedStream(parts, (part) => part),
        init,
      );
    },
  };
}

function mayBeLarge(answer: unknown): boolean {
  if (typeof answer !== "object" || answer === null || !("memories" in answer)) return false;
  const { memories } = answer;
  if (!Array.isArray(memories)) return false;
  const bytes = memories.reduce((sum, { content = "" }) => sum + content.length + FIELDS, 0);
  return bytes > SMALL_ANSWER;
}
