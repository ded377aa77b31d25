/** What pages follow. */
export const TOPICS = ["memories", "activity"] as const;
export type Topic = (typeof TOPICS)[number];

export function isTopic(name: string | null): name is Topic {
  return TOPICS.some((topic) => topic === name);
}

/** Tells how far an account's part is; another text when it has changed. */
export type PositionOf = (accountId: string) => Promise<string | number>;

/** Milliseconds between two looks, for accounts that somebody watches. */
const EVERY = 1_000;
/** Milliseconds after which a stream says where it is, if nothing has changed: proxies end what is silent. */
const BEAT = 10_000;
/** Milliseconds that a stream lasts; the page opens another one. */
const LIFETIME = 4 * 60_000;
/** Streams at a time, of an account and of all. */
const MOST_OF_ACCOUNT = 20;
const MOST = 2_000;
/** Messages that may wait for who does not read them. */
const MOST_UNREAD = 4;

interface Follower {
  readonly topic: Topic;
  readonly endsAt: number;
  beatAt: number;
  told: string;
  /** Sends where the topic is, if the person may still know. */
  tell(position: string): Promise<void>;
  end(): void;
}

export type Live = ReturnType<typeof createLive>;

/**
 * Streams of server-sent events that say when something has changed, and nothing else: a page then asks
 * for what it shows. One timer looks at the accounts that somebody watches, and works for writes of
 * other replicas too.
 */
export function createLive({
  positions,
  every = EVERY,
  beat = BEAT,
  lifetime = LIFETIME,
}: {
  positions: Readonly<Record<Topic, PositionOf>>;
  every?: number;
  beat?: number;
  lifetime?: number;
}) {
  const followers = new Map<string, Set<Follower>>();
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | null = null;
  let isLooking = false;
  let count = 0;
  let isClosed = false;

  /** Says nothing of the account, but is another one after each change. */
  const positionOf = async (topic: Topic, accountId: string): Promise<string> =>
    Bun.hash(`${await positions[topic](accountId)}`).toString(36);

  const lookAt = async (accountId: string, ofAccount: ReadonlySet<Follower>): Promise<void> => {
    for (const topic of TOPICS) {
      const interested = [...ofAccount].filter((each) => each.topic === topic);
      if (interested.length === 0) continue;
      const position = await positionOf(topic, accountId);
      for (const follower of interested) {
        const now = performance.now();
        if (position !== follower.told || now >= follower.beatAt) {
          follower.beatAt = now + beat;
          await follower.tell(position);
        }
      }
    }
  };

  const look = async (): Promise<void> => {
    timer = null;
    isLooking = true;
    for (const [accountId, ofAccount] of followers) {
      // Also where nothing can be read: nobody is told then, and so nobody is found to have left.
      for (const each of ofAccount) if (performance.now() >= each.endsAt) each.end();
      // What can't be read now is looked at again.
      await lookAt(accountId, ofAccount).catch(() => {});
    }
    isLooking = false;
    schedule();
  };

  const schedule = (): void => {
    if (timer !== null || isLooking || count === 0) return;
    timer = setTimeout(look, every);
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

    /** How many streams are open. */
    size: (): number => count,

    /**
     * A stream of messages in the form of server-sent events, the first one at once; null when there are
     * too many, or the server is ending.
     * @param stillSignedIn asked before each message; throws what ends the stream
     * @param gone aborted when the client has left
     */
    open(
      accountId: string,
      topic: Topic,
      { stillSignedIn, gone }: { stillSignedIn: () => Promise<void>; gone: AbortSignal },
    ): ReadableStream<Uint8Array> | null {
      const ofAccount = followers.get(accountId)?.size ?? 0;
      if (isClosed || ofAccount >= MOST_OF_ACCOUNT || count >= MOST) return null;
      let isOver = false;
      let isCancelled = false;
      let end = () => {};
      return new ReadableStream<Uint8Array>(
        {
          async start(controller) {
            const now = performance.now();
            const follower: Follower = {
              ...{ topic, told: "", beatAt: now + beat, endsAt: now + lifetime },
              async tell(position) {
                await stillSignedIn().catch(end);
                if (isOver || (controller.desiredSize ?? 0) <= 0) return;
                follower.told = position;
                controller.enqueue(encoder.encode(`event: ${topic}\ndata: ${position}\n\n`));
              },
              end() {
                if (isOver) return;
                isOver = true;
                leave(accountId, follower);
                // What was cancelled is closed already.
                if (!isCancelled) controller.close();
              },
            };
            end = follower.end;
            gone.addEventListener("abort", end, { once: true });
            join(accountId, follower);
            // Who left while the session was being looked up is not told of by the signal any more.
            if (gone.aborted) return end();
            await positionOf(topic, accountId).then(follower.tell).catch(end);
          },
          cancel() {
            isCancelled = true;
            end();
          },
        },
        new CountQueuingStrategy({ highWaterMark: MOST_UNREAD }),
      );
    },

    /** Ends all streams, and lets no more begin. */
    close(): void {
      isClosed = true;
      for (const ofAccount of followers.values()) for (const each of ofAccount) each.end();
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
