/** What answers a request; Elysia's types don't say with what. */
type Handle = (request: Request, ...rest: unknown[]) => unknown;

/** How a server ends without cutting off a request. */
export type Drain = ReturnType<typeof createDrain>;

export function createDrain() {
  let isStopping = false;
  const atBegin: (() => void)[] = [];
  return {
    isStopping: () => isStopping,

    /**
     * From now on the server says that it is not ready, so that load balancers send nothing new, and has
     * clients close their connections with the answer that they get. It still answers.
     */
    begin(): void {
      isStopping = true;
      for (const work of atBegin) work();
    },

    /** Has work done when it begins: ending answers that would go on. */
    onBegin(work: () => void): void {
      atBegin.push(work);
    },

    /**
     * RFC 9112, section 9.6: who sends this closes the connection after the answer. Otherwise a client's
     * next request could meet a connection that is just being closed.
     */
    announce:
      (handle: Handle) =>
      async (request: Request, ...rest: unknown[]) => {
        const response = await handle(request, ...rest);
        if (isStopping && response instanceof Response) response.headers.set("connection", "close");
        return response;
      },
  };
}
