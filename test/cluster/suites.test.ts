import { expect, test } from "bun:test";
import { join } from "node:path";

/**
 * Suites that test what clients and people see. Suites of a replica's own state are left out: limits of
 * requests, metrics, and when tables are flushed. So are those that share nothing that another suite does not:
 * - `memories/period` and `memories/ranking` are about functions without state, and the order of one search;
 * - `attack/find-accounts-by-the-second-step` compares the words of pages; its limit of tries is kept where those of
 *   `sign-in/sign-in` are, and its recovery codes where those of `attack/sign-in-with-a-stolen-password` are.
 */
const SUITES = [
  "attack/fork-a-grant",
  "attack/plant-a-session",
  "attack/reach-into-another-account",
  "attack/read-the-events-of-others",
  "attack/read-without-the-scope",
  "attack/refresh-without-signature",
  "attack/sign-in-with-a-stolen-password",
  "attack/stay-in-a-space",
  "attack/take-over-a-pending-sign-in",
  "dashboard/access",
  "dashboard/account",
  "dashboard/admin",
  "dashboard/agents",
  "dashboard/guard",
  "dashboard/keys",
  "dashboard/security",
  "dashboard/session-principal",
  "dashboard/written",
  "http/authentication",
  "mcp/agents",
  "mcp/endpoint",
  "mcp/tools",
  "memories/create",
  "memories/delete",
  "memories/fields",
  "memories/idempotency",
  "memories/isolation",
  "memories/list",
  "memories/quota",
  "memories/search",
  "memories/similar",
  "memories/source",
  "memories/transfer",
  "memories/duplicate",
  "memories/update",
  "oauth/access-tokens",
  "oauth/authorize",
  "oauth/client-assertion",
  "oauth/client-document",
  "oauth/code",
  "oauth/consent-form",
  "oauth/flow",
  "oauth/registration",
  "oauth/refresh-tokens",
  "oauth/sdk-clients",
  "oauth/unreachable-document",
  "security-log/factors",
  "sign-in/providers",
  "sign-in/sign-in",
  "sign-in/sign-up",
  "sign-in/without-passwords",
  "spaces/memories",
  "spaces/routes",
  "tidy/tidy",
  "undo/undoable",
];

/** Milliseconds for all suites on a busy machine. */
const PATIENCE = 600_000;

/**
 * Two apps in one process, each with its own connections, local copies and memory, so that they share as
 * little as two processes would.
 */
test(
  "two replicas that receive requests in turn behave like one server",
  async () => {
    const root = join(import.meta.dir, "..", "..");
    const files = SUITES.map((suite) => `./test/${suite}.test.ts`);
    const child = Bun.spawn([process.execPath, "test", "--no-isolate", ...files], {
      cwd: root,
      env: { ...process.env, CTXD_TEST_REPLICAS: "2" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const said = await new Response(child.stderr).text();
    await child.exited;
    // Prints the output of failed suites only.
    const rest = said.split("\n").filter((line) => !line.startsWith("(pass)"));
    if (child.exitCode !== 0) throw new Error(rest.join("\n"));
    expect(said).toContain(`across ${files.length} files`);
  },
  PATIENCE,
);
