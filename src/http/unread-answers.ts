import { AppError } from "../errors.ts";
import { createPagedStream } from "./paged-stream.ts";

/** Bytes that large answers may hold until clients have read them. */
const ROOM = 256 << 20;
/** Bytes of an answer that the buffers of a connection take. Such answers are not counted. */
const SMALL = 256 << 10;
/** Bytes that an export holds: a page with the longest texts. */
const EXPORT = 16 << 20;
/** The most bytes of a memory in an answer without its text and without escapes. */
const FIELDS = 8 << 10;
/** Bytes of an answer that are sent together. */
const PART = 64 << 10;

export type UnreadAnswers = ReturnType<typeof createUnreadAnswers>;

/**
 * Bounds the memory of answers that clients do not read. An account may take half of the room that other accounts
 * leave, so that nobody takes all of it. One answer always has room.
 * @param room bytes for all accounts
 */
export function createUnreadAnswers(room = ROOM) {
  const held = new Map<string, number>();
  let total = 0;

  const add = (accountId: string, bytes: number): void => {
    const own = (held.get(accountId) ?? 0) + bytes;
    total += bytes;
    if (own > 0) held.set(accountId, own);
    else held.delete(accountId);
  };

  /** Returns a function that gives the room back. It is also given back when the client disconnects. */
  const take = (accountId: string, bytes: number, { signal }: Request): (() => void) => {
    const own = held.get(accountId) ?? 0;
    if (own > 0 && own + bytes > (room - (total - own)) / 2) {
      throw new AppError(
        "rate_limited",
        "Large answers to this account are still unread: read them, then try again.",
        { retryAfter: 1 },
      );
    }
    add(accountId, bytes);
    let isTaken = true;
    const giveBack = (): void => {
      if (isTaken) add(accountId, -bytes);
      isTaken = false;
    };
    signal.addEventListener("abort", giveBack, { once: true });
    // A signal that was aborted before fires no event.
    if (signal.aborted) giveBack();
    return giveBack;
  };

  async function* until<Page>(end: () => void, pages: AsyncIterable<Page> | Iterable<Page>) {
    try {
      yield* pages;
    } finally {
      end();
    }
  }

  return {
    /** The pages of an export, which has room until it ends. @throws AppError `rate_limited` */
    hold: <Page>(accountId: string, request: Request, pages: AsyncIterable<Page>) =>
      until(take(accountId, EXPORT, request), pages),

    /**
     * Returns the response for an answer that is large, with room for it until the client has read it; undefined for
     * any other answer.
     * @throws AppError `rate_limited`
     */
    respond(asker: { accountId: string }, request: Request, answer: unknown, status = 200) {
      if (!mayBeLarge(answer)) return;
      const body = Buffer.from(JSON.stringify(answer));
      const init = { status, headers: { "content-type": "application/json" } };
      if (body.length <= SMALL) return new Response(body, init);
      const parts = until(take(asker.accountId, body.length, request), partsOf(body));
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
  return bytes > SMALL;
}

function* partsOf(body: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < body.length; start += PART) yield body.subarray(start, start + PART);
}
