import { listSeries } from "../backup/series.ts";
import type { Config } from "../config.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";

/** Whether backups on a schedule are as young as the settings want them. */
export async function checkBackups(backups: Config["backups"], now: number): Promise<Finding> {
  const { ok, warning, problem } = findingsOf("backups");
  if (!backups) return ok("none are made on a schedule (CTXD_BACKUP_DIR)");
  const { folder, every } = backups;
  try {
    const { complete } = await listSeries(folder, now);
    const newest = complete.at(-1);
    if (!newest) return warning(`${folder} has none yet: a running server makes one.`);
    const text = `${complete.length} in ${folder}, the newest of ${new Date(newest.at).toISOString()}`;
    return now - newest.at > 2 * every
      ? problem(`${text}, which is too old: the server's log says why.`)
      : ok(text);
  } catch (error) {
    return problem(`${reasonOf(error)}: none can be made.`);
  }
}
