import { beforeAnswer } from "./turns.ts";

/** Stops a server without cutting off requests. */
export type Drain = ReturnType<typeof createDrain>;

export function createDrain() {
  let isStopping = false;
  const atBegin: (() => void)[] = [];
  return {
    isStopping: () => isStopping,

    /**
     * From now on the server reports that it is not ready, so that load balancers send no new requests.
     * Each answer asks its client to close the connection. Requests are still answered.
     */
    begin(): void {
      isStopping = true;
      for (const work of atBegin) work();
    },

    /** Adds work for `begin`, for example to end answers that never end by themselves. */
    onBegin(work: () => void): void {
      atBegin.push(work);
    },

    /**
     * RFC 9112, section 9.6: this header closes the connection after the answer. Otherwise a client's
     * next request could meet a connection that is being closed.
     */
    closeWhenStopping: beforeAnswer(({ headers }) => {
      if (isStopping) headers.set("connection", "close");
    }),
  };
}
