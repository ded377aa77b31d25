/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Config } from "../../config/config.ts";
import { type Checks, runChecks } from "../../http/health.ts";
import type { SecurityLog } from "../../security-log/security-log.ts";
import { type Guard, PAGE_ROUTE } from "../guard.tsx";
import type { ServerStatus } from "../server-status.ts";
import { requireOwner } from "../visit.ts";
import { BACKUPS_PATH, HEALTH_PATH } from "./admin-paths.ts";
import { BackupsPage } from "./backups-page.tsx";
import { HealthPage } from "./health-page.tsx";

/** Backups and restores shown from the security log. */
const MAX_EVENTS = 10;

/** The owner's pages of health and backups. */
export function createServerRoutes({
  config,
  guard,
  checks,
  serverStatus,
  securityLog,
}: {
  config: Pick<Config, "publicUrl">;
  guard: Guard;
  checks: Checks;
  /** Null if the program does not report its status. */
  serverStatus: ServerStatus | null;
  securityLog: Pick<SecurityLog, "list">;
}) {
  const listEvents = async () => {
    const [made, restored] = await Promise.all(
      (["backup_created", "backup_restored"] as const).map((event) =>
        securityLog.list(null, { event }, { limit: MAX_EVENTS, before: null }),
      ),
    );
    const newestFirst = [...(made ?? []), ...(restored ?? [])].sort((a, b) => b.id - a.id);
    return newestFirst.slice(0, MAX_EVENTS);
  };

  return new Elysia()
    .get(
      HEALTH_PATH,
      ({ request }) =>
        guard.show(request, async (visit) => {
          requireOwner(visit);
          const results = await runChecks(checks);
          const facts = serverStatus?.server() ?? null;
          return (
            <HealthPage visit={visit} results={results} facts={facts} address={config.publicUrl} />
          );
        }),
      PAGE_ROUTE,
    )
    .get(
      BACKUPS_PATH,
      ({ request }) =>
        guard.show(request, async (visit) => {
          requireOwner(visit);
          const facts = (await serverStatus?.backups()) ?? null;
          return (
            <BackupsPage
              visit={visit}
              facts={facts}
              events={await listEvents()}
              program={serverStatus?.program ?? "ctxd"}
            />
          );
        }),
      PAGE_ROUTE,
    );
}
