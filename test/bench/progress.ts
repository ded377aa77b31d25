const WIDTH = 30;

/** Shows how far a long task is. */
export interface Progress {
  report(done: number): void;
  /** Leaves the last state on the screen. */
  end(): void;
}

/** A bar in a terminal; elsewhere a plain line for each tenth. */
export function createProgress(
  label: string,
  total: number,
  out: Pick<NodeJS.WriteStream, "write"> & { isTTY?: boolean } = process.stderr,
): Progress {
  const started = performance.now();
  let tenths = 0;
  return {
    report(done) {
      const share = Math.min(1, done / total);
      const state = `${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
      if (out.isTTY) {
        const bar = "█".repeat(Math.round(share * WIDTH)).padEnd(WIDTH, "░");
        const left = ((performance.now() - started) / 1_000) * (1 / Math.max(share, 1e-9) - 1);
        out.write(`\r\x1b[K${label} ${bar} ${state}, ${Math.ceil(left)} s left`);
      } else if (Math.floor(share * 10) > tenths) {
        tenths = Math.floor(share * 10);
        out.write(`${label}: ${state}\n`);
      }
    },
    end() {
      if (out.isTTY) out.write("\n");
    },
  };
}
