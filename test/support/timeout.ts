import { plugin } from "bun";

/** Milliseconds that a test may take. Bun's own 5,000 are too few for two busy cores and three files at once. */
const TIMEOUT = 60_000;

// bunfig.toml has no setting for it, and what a preloaded file sets holds for the first test file
// alone (https://github.com/oven-sh/bun/issues/43787): so every test file sets it itself.
plugin({
  name: "test-timeout",
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => ({
      loader: "ts",
      // On its first line, so that the numbers of lines in messages stay right.
      contents: `import { setDefaultTimeout as setTimeoutOfTests } from "bun:test"; setTimeoutOfTests(${TIMEOUT}); ${await Bun.file(path).text()}`,
    }));
  },
});
