const SUITE = Bun.resolveSync("@modelcontextprotocol/conformance/dist/index.js", import.meta.dir);

/** Starts the protocol's own conformance suite. */
export function startSuite(...args: string[]) {
  return Bun.spawn([process.execPath, SUITE, ...args], {
    stdout: "pipe",
    stderr: "inherit",
    env: { PATH: process.env.PATH ?? "", HOME: "/nonexistent", NO_COLOR: "1" },
  });
}

/** The scenarios for servers, by name: how many of their checks failed; null where none was made. */
export async function runServerSuite(url: string, version: string) {
  const child = startSuite("server", "--url", url, "--suite", "all", "--spec-version", version);
  const [, summary = ""] = (await child.stdout.text()).split("=== SUMMARY ===");
  const lines = summary.matchAll(/^\S ([\w-]+): (\d+) passed, (\d+) failed/gm);
  return new Map(
    [...lines].map(([, name = "", passed, failed]) => [
      name,
      passed === "0" && failed === "0" ? null : Number(failed),
    ]),
  );
}
