/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { wholeAccount } from "../keys/reach.ts";
import { createAskForProof } from "../sign-in/second-step/proof-routes.tsx";
import { createAccessRoutes } from "./account/access-routes.tsx";
import { createAccountRoutes } from "./account/account-routes.tsx";
import { createAuthenticatorRoutes, createPasskeyRoutes } from "./account/factor-routes.tsx";
import { createActivityRoutes } from "./activity/activity-routes.tsx";
import { createAdminRoutes } from "./admin/admin-routes.tsx";
import { createServerRoutes } from "./admin/health-routes.tsx";
import { createQuotaRoutes } from "./admin/quota-routes.tsx";
import { createAppsRoutes } from "./apps/apps-routes.tsx";
import { createWrittenRoutes } from "./apps/written-routes.tsx";
import { createConnectRoutes } from "./connect/connect-routes.tsx";
import { createExportRoutes } from "./export/export-routes.tsx";
import { createGuard } from "./guard.tsx";
import { createHelpRoutes } from "./help/help-routes.tsx";
import { createImportRoutes } from "./import/import-routes.tsx";
import { createKeyRoutes } from "./keys/key-routes.tsx";
import { createLive, createLiveRoutes } from "./live/live.ts";
import { createMapRoutes } from "./map/map-routes.tsx";
import { createMemoryRoutes } from "./memories/memories-routes.tsx";
import { createOverviewRoutes } from "./overview/overview-routes.tsx";
import type { DashboardParts, Parts } from "./parts.ts";
import { createSecurityRoutes } from "./security/security-routes.tsx";
import { createShownOnce } from "./session.ts";
import { createWelcomeRoutes } from "./welcome/welcome-routes.tsx";

/** The routes of the dashboard and the help. */
export function createDashboardRoutes(services: DashboardParts) {
  const { accounts, memories } = services;
  const askForProof = createAskForProof(services);
  const guard = createGuard({ ...services, isSetUp: accounts.isSetUp, askForProof });
  const live = createLive({
    positions: {
      memories: (accountId) => memories.position(wholeAccount(accountId)),
      activity: services.activity.newest,
    },
  });
  services.drain.onBegin(live.close);
  const parts: Parts = {
    ...services,
    guard,
    grants: services.oauth.grants,
    live,
    shownOnce: createShownOnce(services),
  };
  return new Elysia()
    .use(createHelpRoutes())
    .use(createWelcomeRoutes(parts))
    .use(createLiveRoutes(parts))
    .use(createActivityRoutes(parts))
    .use(createOverviewRoutes(parts))
    .use(createExportRoutes(parts))
    .use(createImportRoutes(parts))
    .use(createMemoryRoutes(parts))
    .use(createMapRoutes(parts))
    .use(createConnectRoutes(parts))
    .use(createKeyRoutes(parts))
    .use(createAppsRoutes(parts))
    .use(createWrittenRoutes(parts))
    .use(createAccountRoutes(parts))
    .use(createPasskeyRoutes(parts))
    .use(createAuthenticatorRoutes(parts))
    .use(createAccessRoutes(parts))
    .use(createSecurityRoutes(parts))
    .use(createQuotaRoutes(parts))
    .use(createServerRoutes(parts))
    .use(createAdminRoutes(parts));
}
