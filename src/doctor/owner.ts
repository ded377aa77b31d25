import type { Database as Sqlite } from "bun:sqlite";
import { type Finding, findingsOf } from "./finding.ts";

/** Checks that a server with accounts has an owner. An earlier version allowed to remove the owner first. */
export function checkOwner(sqlite: Sqlite): Finding {
  const { ok, problem } = findingsOf("owner");
  const counts = sqlite
    .query<{ owners: number; accounts: number }, []>(
      "SELECT count(*) AS accounts, count(*) FILTER (WHERE role = 'owner') AS owners FROM accounts",
    )
    .get();
  if (!counts?.accounts) return ok("no accounts yet");
  if (counts.owners > 0) return ok("one of the accounts owns this server");
  return problem(
    "there are accounts but no owner, so local agents can save nothing: choose an owner with ctxd user owner EMAIL.",
  );
}
