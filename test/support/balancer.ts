/** Milliseconds between two questions whether a server is ready. */
const CHECK_MS = 100;
/** Milliseconds that a server may take for an answer, or to become ready on a busy machine. */
const ANSWER_TIMEOUT_MS = 5_000;
const READY_TIMEOUT_MS = 60_000;

export type Balancer = ReturnType<typeof startBalancer>;

/** Chooses among servers that say that they are ready, in turn, as a load balancer does. */
export function startBalancer() {
  const ready = new Map<string, boolean>();
  let turn = 0;

  const look = async (origin: string) => {
    const isReady = await fetch(`${origin}/api/health`, {
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
      .then(async (response) => {
        await response.arrayBuffer();
        return response.status === 200;
      })
      .catch(() => false);
    if (ready.has(origin)) ready.set(origin, isReady);
  };
  const timer = setInterval(() => {
    for (const origin of ready.keys()) void look(origin);
  }, CHECK_MS);

  return {
    /** Adds a server, and resolves when it is ready. */
    async add(origin: string): Promise<void> {
      ready.set(origin, false);
      for (
        const end = performance.now() + READY_TIMEOUT_MS;
        !ready.get(origin);
        await Bun.sleep(10)
      ) {
        if (performance.now() > end) throw new Error(`${origin} does not become ready`);
      }
    },

    remove: (origin: string) => void ready.delete(origin),
    isReady: (origin: string) => ready.get(origin) === true,

    /** Where the next request goes. */
    next(): string {
      const origins = [...ready].filter(([, isReady]) => isReady).map(([origin]) => origin);
      const origin = origins[turn++ % origins.length];
      if (origin === undefined) throw new Error("no server is ready");
      return origin;
    },

    [Symbol.dispose]: () => clearInterval(timer),
  };
}
