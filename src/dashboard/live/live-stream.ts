/** Events that a stream holds for a client that does not read them. */
const MAX_UNREAD = 4;

/** An open stream of one page. */
export interface Follower {
  readonly topic: string;
  /** When the stream ends, as `performance.now()` counts. */
  readonly endsAt: number;
  /** When the position is repeated even if it has not changed. */
  heartbeatAt: number;
  /** The position that was sent last. */
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
export function openFollowerStream({
  topic,
  heartbeatAt,
  endsAt,
  position,
  stillSignedIn,
  signal,
  join,
  leave,
}: Pick<Follower, "topic" | "heartbeatAt" | "endsAt"> & {
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
