import type { Database as Sqlite } from "bun:sqlite";
import { type Finding, findingsOf } from "./finding.ts";

/** Whether somebody owns a server that has accounts. An earlier version let the owner be removed before them. */
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
    "there are accounts and no owner, so local agents can save nothing: ctxd user owner EMAIL makes one of them the owner.",
  );
}
