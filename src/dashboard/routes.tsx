/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Accounts } from "../accounts/accounts.ts";
import type { Invitations } from "../accounts/invitations.ts";
import type { Config } from "../config.ts";
import type { Checks } from "../http/health.ts";
import type { RecordEvent } from "../http/record.ts";
import type { Keys } from "../keys/keys.ts";
import type { Memories } from "../memories/memories.ts";
import type { OAuth } from "../oauth/oauth.ts";
import type { SecurityLog } from "../security-log/security-log.ts";
import type { Cookies } from "../sign-in/cookies.ts";
import type { Hashing } from "../sign-in/hashing.ts";
import type { Identities } from "../sign-in/identities.ts";
import type { Provider } from "../sign-in/providers.ts";
import type { Sessions } from "../sign-in/sessions.ts";
import type { SignIn } from "../sign-in/sign-in.ts";
import type { Visitors } from "../sign-in/visitor.ts";
import { createAccessRoutes } from "./access-routes.tsx";
import { createAccountRoutes } from "./account-routes.tsx";
import { createAdminRoutes } from "./admin-routes.tsx";
import { createAppsRoutes } from "./apps-routes.tsx";
import { createConnectRoutes } from "./connect-routes.tsx";
import { createGuard } from "./guard.tsx";
import { createHelpRoutes } from "./help-routes.tsx";
import { createKeyRoutes } from "./key-routes.tsx";
import { createMemoryPageRoutes } from "./memory-routes.tsx";
import { createOverviewRoutes } from "./overview-routes.tsx";
import { createSecurityRoutes } from "./security-routes.tsx";
import { createShownOnce } from "./shown-once.ts";
import { createTransferRoutes } from "./transfer-routes.tsx";

/** All that the dashboard shows and changes. */
export interface DashboardParts {
  config: Pick<Config, "publicUrl" | "trustProxy" | "securityLogDays">;
  cookies: Cookies;
  visitors: Visitors;
  signIn: SignIn;
  hashing: Hashing;
  accounts: Accounts;
  invitations: Invitations;
  sessions: Sessions;
  identities: Identities;
  providers: readonly Provider[];
  keys: Keys;
  oauth: Pick<OAuth, "grants">;
  memories: Memories;
  checks: Checks;
  record: RecordEvent;
  securityLog: SecurityLog;
  clock: () => number;
}

/** The pages for people who are signed in. */
export function createDashboardRoutes(parts: DashboardParts) {
  const { config, cookies, visitors, accounts, keys, memories, oauth, clock, record } = parts;
  const guard = createGuard({ config, cookies, visitors, isSetUp: accounts.isSetUp });
  const shownOnce = createShownOnce();
  return new Elysia()
    .use(createHelpRoutes())
    .use(createOverviewRoutes({ guard, memories }))
    .use(createTransferRoutes({ guard, memories, record }))
    .use(createMemoryPageRoutes({ guard, memories }))
    .use(
      createConnectRoutes({ guard, keys, shownOnce, clock, record, publicUrl: config.publicUrl }),
    )
    .use(createKeyRoutes({ guard, keys, shownOnce, clock, record }))
    .use(createAppsRoutes({ guard, grants: oauth.grants, record }))
    .use(createAccountRoutes({ ...parts, guard }))
    .use(createAccessRoutes({ ...parts, guard, grants: oauth.grants }))
    .use(createSecurityRoutes({ ...parts, guard }))
    .use(createAdminRoutes({ ...parts, guard, grants: oauth.grants, shownOnce }));
}
