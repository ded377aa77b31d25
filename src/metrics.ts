import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Seconds, from a cached answer to a batch of long texts. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Makes what a part of the program counts, for `GET /api/metrics`. A label has few values that are
 * known beforehand: never an id, an account, a path or anything that a client chooses.
 */
export type Metrics = ReturnType<typeof createMetrics>;

/** Metrics of one server; names follow https://prometheus.io/docs/practices/naming/. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];

  return {
    /** Something that happens: a number that only grows. */
    counter: <Label extends string = never>(
      name: string,
      help: string,
      labelNames: readonly Label[] = [],
    ) => new Counter({ name, help, labelNames, registers }),

    /** How long something takes, in seconds. */
    durations: <Label extends string = never>(
      name: string,
      help: string,
      labelNames: readonly Label[] = [],
    ) => new Histogram({ name, help, labelNames, registers, buckets: SECONDS }),

    /** A number that is looked up when it is asked for; `NaN` when it isn't known. */
    gauge(name: string, help: string, read: () => number | Promise<number>): void {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await read());
        },
      });
    },

    /** A number that only grows and is kept elsewhere. */
    counterOf(name: string, help: string, read: () => number): void {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    },

    /** All of them as they are now, in Prometheus' text format. */
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/**
 * Measures calls of something else: how long they take, by `operation` and by what came of them.
 * @param resultOf what came of a call that failed
 */
export function measureCalls(
  metrics: Metrics,
  { name, help, resultOf }: { name: string; help: string; resultOf: (error: unknown) => string },
) {
  const durations = metrics.durations(name, help, ["operation", "result"]);
  return async <Result>(operation: string, call: () => Promise<Result>): Promise<Result> => {
    const end = durations.startTimer({ operation });
    try {
      const answer = await call();
      end({ result: "ok" });
      return answer;
    } catch (error) {
      end({ result: resultOf(error) });
      throw error;
    }
  };
}
