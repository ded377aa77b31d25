// The package's main module also loads clusters, a push gateway and OpenTelemetry: 12 ms of each start.
import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Histogram from "prom-client/lib/histogram.js";
import Registry from "prom-client/lib/registry.js";

/** Histogram buckets in seconds, from a cached answer to a batch of long texts. */
const DURATION_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/**
 * Creates the metrics of `GET /api/metrics`. A label has a small, fixed set of values: never an id, an
 * account, a path or a text that a client chooses.
 */
export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of one server. Names follow https://prometheus.io/docs/practices/naming/. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];

  return {
    /** Counts events: a number that only grows. */
    counter: <Label extends string = never>(
      name: string,
      help: string,
      labelNames: readonly Label[] = [],
    ) => new Counter({ name, help, labelNames, registers }),

    /** A histogram of durations in seconds. */
    durations: <Label extends string = never>(
      name: string,
      help: string,
      labelNames: readonly Label[] = [],
    ) => new Histogram({ name, help, labelNames, registers, buckets: DURATION_BUCKETS }),

    /** A number that is read for each request of the metrics; `NaN` when it is unknown. */
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

    /** A number that only grows and is counted elsewhere. */
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

    /** All current values in Prometheus' text format. */
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/**
 * Measures the duration of calls, by operation and result.
 * @param resultOf the `result` label of a failed call
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
