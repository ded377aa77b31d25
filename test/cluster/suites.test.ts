import { expect, test } from "bun:test";
import { join } from "node:path";

/**
 * Suites of what clients and people see. Not among them are those of what each replica has for itself:
 * limits of requests, metrics, and what is flushed when.
 */
const SUITES = [
  "attack/find-accounts-by-the-second-step",
  "attack/fork-a-grant",
  "attack/plant-a-session",
  "attack/reach-into-another-account",
  "attack/read-the-events-of-others",
  "attack/read-without-the-scope",
  "attack/refresh-without-signature",
  "attack/sign-in-with-a-stolen-password",
  "attack/take-over-a-pending-sign-in",
  "dashboard/access",
  "dashboard/account",
  "dashboard/admin",
  "dashboard/apps",
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
  "memories/period",
  "memories/quota",
  "memories/ranking",
  "memories/search",
  "memories/similar",
  "memories/source",
  "memories/transfer",
  "memories/twin",
  "memories/update",
  "oauth/authorize",
  "oauth/client-assertion",
  "oauth/client-document",
  "oauth/code",
  "oauth/flow",
  "oauth/registration",
  "oauth/sdk-clients",
  "oauth/tokens",
  "security-log/factors",
  "sign-in/providers",
  "sign-in/sign-in",
  "sign-in/sign-up",
  "sign-in/without-passwords",
  "undo/undoable",
];

/** Milliseconds for all of them on a busy machine. */
const PATIENCE = 600_000;

/**
 * In one process: two apps, each with its own connections, local copies and memory, so that they have as
 * little in common as two processes would.
 */
test(
  "two replicas that get the requests in turn do what one server does",
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
    // What passed says nothing of what did not.
    const rest = said.split("\n").filter((line) => !line.startsWith("(pass)"));
    if (child.exitCode !== 0) throw new Error(rest.join("\n"));
    expect(said).toContain(`across ${files.length} files`);
  },
  PATIENCE,
);
