/** What answers a request; Elysia's types don't say with what. */
type Handle = (request: Request, ...rest: unknown[]) => unknown;

/** How a server ends without cutting off a request. */
export type Drain = ReturnType<typeof createDrain>;

export function createDrain() {
  let isStopping = false;
  let underWay = 0;
  const whenIdle = new Set<() => void>();
  const streams: (() => unknown)[] = [];

  return {
    isStopping: () => isStopping,

    /**
     * From now on the server says that it is not ready, so that load balancers send nothing new, and has
     * clients close their connections with the answer that they get. It still answers.
     */
    begin(): void {
      isStopping = true;
    },

    /** Counts requests until they are answered. */
    count:
      (handle: Handle) =>
      async (request: Request, ...rest: unknown[]) => {
        underWay++;
        try {
          const response = await handle(request, ...rest);
          // RFC 9112, section 9.6: who sends this closes the connection after the answer. Otherwise the
          // client's next request could meet a connection that is just being closed.
          if (isStopping && response instanceof Response) {
            response.headers.set("connection", "close");
          }
          return response;
        } finally {
          underWay--;
          if (underWay === 0) for (const resolve of whenIdle) resolve();
        }
      },

    /** Adds what ends streams that have no end of their own. */
    onEndStreams(end: () => unknown): void {
      streams.push(end);
    },

    /** Waits until every request is answered, then ends the streams. */
    async endStreams(): Promise<void> {
      if (underWay > 0) await new Promise<void>((resolve) => whenIdle.add(resolve));
      for (const end of streams) await end();
    },
  };
}
