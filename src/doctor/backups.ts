import { listSeries } from "../backup/series.ts";
import type { Config } from "../config/config.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";

/** Checks that the newest scheduled backup is recent enough. */
export async function checkBackups(backups: Config["backups"], now: number): Promise<Finding> {
  const { ok, warning, problem } = findingsOf("backups");
  if (!backups) return ok("no backups are scheduled (CTXD_BACKUP_DIR)");
  const { folder, every } = backups;
  try {
    const { complete } = await listSeries(folder, now);
    const newest = complete.at(-1);
    if (!newest) return warning(`${folder} has no backup yet: a running server creates one.`);
    const text = `${complete.length} in ${folder}, the newest of ${new Date(newest.at).toISOString()}`;
    return now - newest.at > 2 * every
      ? problem(`${text}, which is too old: see the server's log for the reason.`)
      : ok(text);
  } catch (error) {
    return problem(`${reasonOf(error)}: no backup can be created.`);
  }
}
