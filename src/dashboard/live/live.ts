import { AppError } from "../../errors.ts";
import { personOf, type Reach } from "../../keys/reach.ts";
import type { Pages } from "../page-routes.tsx";

/** Events that a stream holds for a client that does not read them. */
const MAX_UNREAD = 4;

/** An open stream of one page. */
interface Follower {
  readonly topic: string;
  /** The account of the person who follows. */
  readonly personId: string;
  /** When the stream ends, as `performance.now()` counts. */
  readonly endsAt: number;
  /** When the position is repeated even if it has not changed. */
  heartbeatAt: number;
  lastSent: string;
  /** Sends a position if the session is still valid. */
  send(position: string): Promise<void>;
  end(): void;
}

/**
 * Opens the stream of a page: server-sent events named after the topic, with the position as data.
 * @param position returns the first position to send
 * @param stillSignedIn called before each event; if it throws, the stream ends
 * @param signal aborted when the client disconnects
 */
function openFollowerStream({
  topic,
  personId,
  heartbeatAt,
  endsAt,
  position,
  stillSignedIn,
  signal,
  join,
  leave,
}: Pick<Follower, "topic" | "personId" | "heartbeatAt" | "endsAt"> & {
  position: () => Promise<string>;
  stillSignedIn: () => Promise<void>;
  signal: AbortSignal;
  join: (follower: Follower) => void;
  leave: (follower: Follower) => void;
}): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isOver = false;
  let isCancelled = false;
  let end = () => {};
  return new ReadableStream<Uint8Array>(
    {
      async start(controller) {
        const follower: Follower = {
          topic,
          personId,
          heartbeatAt,
          endsAt,
          lastSent: "",
          async send(next) {
            await stillSignedIn().catch(end);
            if (isOver || (controller.desiredSize ?? 0) <= 0) return;
            follower.lastSent = next;
            controller.enqueue(encoder.encode(`event: ${topic}\ndata: ${next}\n\n`));
          },
          end() {
            if (isOver) return;
            isOver = true;
            leave(follower);
            // A cancelled stream is closed already.
            if (!isCancelled) controller.close();
          },
        };
        end = follower.end;
        signal.addEventListener("abort", end, { once: true });
        join(follower);
        // A signal that was aborted before the listener was added fires no event.
        if (signal.aborted) return end();
        await position().then(follower.send).catch(end);
      },
      cancel() {
        isCancelled = true;
        end();
      },
    },
    new CountQueuingStrategy({ highWaterMark: MAX_UNREAD }),
  );
}

/** What pages can follow. */
const TOPICS = ["memories", "activity"] as const;
type Topic = (typeof TOPICS)[number];

function isTopic(name: string | null): name is Topic {
  return TOPICS.some((topic) => topic === name);
}

/** Returns the position of an account. It differs after each change. */
type PositionOf = (accountId: string) => Promise<string | number>;

/** Milliseconds between two checks of the followed accounts. */
const CHECK_INTERVAL_MS = 1_000;
/** Milliseconds after which a stream repeats the position if nothing has changed. Proxies close silent streams. */
const HEARTBEAT_MS = 10_000;
/** Milliseconds after which a stream ends. The page then opens another one. */
const LIFETIME_MS = 4 * 60_000;
const MAX_STREAMS_PER_PERSON = 20;
const MAX_STREAMS = 2_000;

export type Live = ReturnType<typeof createLive>;

/**
 * Streams of server-sent events that tell pages when something has changed. An event contains no data of the account;
 * the page then requests its new content. One timer checks the followed accounts, so the streams also report changes
 * of other replicas.
 */
export function createLive({
  positions,
  checkIntervalMs = CHECK_INTERVAL_MS,
  heartbeatMs = HEARTBEAT_MS,
  lifetimeMs = LIFETIME_MS,
}: {
  positions: Readonly<Record<Topic, PositionOf>>;
  checkIntervalMs?: number;
  heartbeatMs?: number;
  lifetimeMs?: number;
}) {
  const followers = new Map<string, Set<Follower>>();
  let count = 0;
  let timer: NodeJS.Timeout | null = null;
  let isChecking = false;
  let isClosed = false;

  /** A hash of the account's position: it differs between accounts and changes with it, but reveals nothing. */
  const positionOf = async (topic: Topic, accountId: string): Promise<string> =>
    Bun.hash(`${accountId} ${await positions[topic](accountId)}`).toString(36);

  const countOf = (personId: string): number => {
    let count = 0;
    for (const each of followers.values()) {
      for (const follower of each) if (follower.personId === personId) count++;
    }
    return count;
  };

  const checkAccount = async (accountId: string, ofAccount: ReadonlySet<Follower>) => {
    for (const topic of TOPICS) {
      const interested = [...ofAccount].filter((follower) => follower.topic === topic);
      if (interested.length === 0) continue;
      const position = await positionOf(topic, accountId);
      for (const follower of interested) {
        const now = performance.now();
        if (position !== follower.lastSent || now >= follower.heartbeatAt) {
          follower.heartbeatAt = now + heartbeatMs;
          await follower.send(position);
        }
      }
    }
  };

  const checkAll = async (): Promise<void> => {
    timer = null;
    isChecking = true;
    for (const [accountId, ofAccount] of followers) {
      // Streams must end on time even if the database fails and nothing can be sent.
      for (const each of ofAccount) if (performance.now() >= each.endsAt) each.end();
      // After a failure the next check tries again.
      await checkAccount(accountId, ofAccount).catch(() => {});
    }
    isChecking = false;
    schedule();
  };

  const schedule = (): void => {
    if (timer !== null || isChecking || count === 0) return;
    timer = setTimeout(checkAll, checkIntervalMs);
    timer.unref();
  };

  const join = (accountId: string, follower: Follower): void => {
    const ofAccount = followers.get(accountId) ?? new Set();
    followers.set(accountId, ofAccount.add(follower));
    count++;
    schedule();
  };

  const leave = (accountId: string, follower: Follower): void => {
    const ofAccount = followers.get(accountId);
    if (!ofAccount?.delete(follower)) return;
    count--;
    if (ofAccount.size === 0) followers.delete(accountId);
  };

  return {
    positionOf,

    /** The number of open streams. */
    size: (): number => count,

    /**
     * Opens a stream of server-sent events, which begins with the present position. Returns null if too many streams
     * are open or the server is stopping.
     * @param stillSignedIn called before each event; if it throws, the stream ends
     * @param signal aborted when the client disconnects
     */
    open(
      reach: Reach,
      topic: Topic,
      { stillSignedIn, signal }: { stillSignedIn: () => Promise<void>; signal: AbortSignal },
    ): ReadableStream<Uint8Array> | null {
      const { accountId } = reach;
      const personId = personOf(reach);
      if (isClosed || count >= MAX_STREAMS) return null;
      if (countOf(personId) >= MAX_STREAMS_PER_PERSON) return null;
      const now = performance.now();
      return openFollowerStream({
        topic,
        personId,
        heartbeatAt: now + heartbeatMs,
        endsAt: now + lifetimeMs,
        position: () => positionOf(topic, accountId),
        stillSignedIn,
        signal,
        join: (follower) => join(accountId, follower),
        leave: (follower) => leave(accountId, follower),
      });
    },

    /** Ends all streams and refuses new ones. */
    close(): void {
      isClosed = true;
      for (const ofAccount of followers.values()) for (const each of ofAccount) each.end();
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}

const EVENTS_PATH = "/events";

/** `GET /events?of=TOPIC`: a stream of change events for an open page. */
export function addLiveStream({ pages, live }: { pages: Pages; live: Live }): void {
  pages.routes.onStop(() => live.close());
  pages.get(EVENTS_PATH, ({ url, reach, stillSignedIn, request }) => {
    const topic = url.searchParams.get("of");
    if (!isTopic(topic)) {
      throw new AppError("validation_failed", `of must be one of ${TOPICS.join(", ")}.`);
    }
    const body = live.open(reach, topic, { stillSignedIn, signal: request.signal });
    if (body === null) {
      return new Response("Too many pages are open. Close some and try again.", {
        status: 503,
        headers: { "retry-after": "30" },
      });
    }
    const headers = {
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      // Without this header nginx would buffer the messages.
      "x-accel-buffering": "no",
    };
    return new Response(body, { headers });
  });
}
