import { plugin } from "bun";

/** Milliseconds that a test may take: more than `until` waits, which says what it has waited for. */
const TIMEOUT_MS = 120_000;

// Why this rewrites test sources: only so `bun test FILE` has the limit in every file. bunfig.toml has no such
// setting, and `setDefaultTimeout` of a preloaded file holds for the first test file only
// (https://github.com/oven-sh/bun/issues/43787; still so in Bun 1.4.5).
plugin({
  name: "test-timeout",
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => ({
      loader: "ts",
      // Inserted into the first line, so that line numbers in messages stay right.
      contents: `import { setDefaultTimeout as setTimeoutOfTests } from "bun:test"; setTimeoutOfTests(${TIMEOUT_MS}); ${await Bun.file(path).text()}`,
    }));
  },
});
