/** Below the ports of outgoing connections, so that a stopped server can use its port again. */
const [FIRST, PORTS] = [10_000, 5_000];
const MAX_ATTEMPTS = 1_000;

/** A TCP port on which no program listens now. */
export function freePort(): number {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const port = FIRST + Math.floor(Math.random() * PORTS);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    }
  }
  throw new Error("there is no free port");
}
