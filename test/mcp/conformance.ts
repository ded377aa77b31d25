/**
 * Runs the scenarios of the protocol's own conformance suite that ask for no fixtures in a server:
 * `bun run conformance`. The suite is fetched when this runs, being larger than it is often used.
 */
import { startServer } from "../support/server.ts";

const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

/** By version of the protocol: scenarios, and the checks of each that can't pass without fixtures. */
const SCENARIOS: Record<string, Record<string, number>> = {
  "2025-11-25": {
    "server-initialize": 0,
    ping: 0,
    "tools-list": 0,
    "resources-list": 0,
    "prompts-list": 0,
    "dns-rebinding-protection": 0,
  },
  "2026-07-28": {
    "tools-list": 0,
    "resources-list": 0,
    "prompts-list": 0,
    "dns-rebinding-protection": 0,
    "server-sse-multiple-streams": 0,
    "sep-2164-resource-not-found": 0,
    "http-header-validation": 0,
    caching: 0,
    // Four want tools that ask for what the client lacks, that stream and that log.
    "server-stateless": 4,
  },
};

await using server = await startServer();
const { key, save } = await server.account();
await save({ content: "Sam is allergic to peanuts" });

/** The suite knows no keys: this adds one, and leaves everything else as it came. */
await using proxy = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.set("authorization", `Bearer ${key}`);
    return fetch(server.origin + pathname + search, {
      method: request.method,
      headers,
      body: request.body,
    });
  },
});

let failed = 0;
for (const [version, scenarios] of Object.entries(SCENARIOS)) {
  for (const [scenario, allowed] of Object.entries(scenarios)) {
    const args = ["server", "--url", `http://localhost:${proxy.port}/mcp`];
    const child = Bun.spawn(
      [
        process.execPath,
        "x",
        "--bun",
        SUITE,
        ...args,
        "--scenario",
        scenario,
        "--spec-version",
        version,
      ],
      { stdout: "pipe", stderr: "inherit" },
    );
    const [, passed, all] = /Passed: (\d+)\/(\d+)/.exec(await child.stdout.text()) ?? [];
    const isGood = Number(all) > 0 && Number(all) - Number(passed) <= allowed;
    if (!isGood) failed++;
    console.log(`${isGood ? "ok    " : "FAILED"} ${version} ${scenario} ${passed}/${all}`);
  }
}
process.exitCode = failed === 0 ? 0 : 1;
