/** Below the ports that systems give to outgoing connections, so that a stopped server finds its own again. */
const [FIRST, PORTS] = [10_000, 5_000];

/** A TCP port on which nobody listens now. */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * PORTS);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    }
  }
}
