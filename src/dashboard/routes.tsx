/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Accounts } from "../accounts/accounts.ts";
import type { Invitations } from "../accounts/invitations.ts";
import type { Quotas } from "../accounts/quotas.ts";
import type { Activity } from "../activity/activity.ts";
import type { Config } from "../config/config.ts";
import type { Ephemeral } from "../db/ephemeral.ts";
import type { Checks } from "../http/health.ts";
import type { Drain } from "../http/load/drain.ts";
import type { Room } from "../http/load/room.ts";
import type { Turns } from "../http/load/turns.ts";
import type { LastAgents, RecordEvent } from "../http/record-event.ts";
import type { Etags } from "../http/responses.ts";
import type { Keys } from "../keys/keys.ts";
import { wholeAccount } from "../keys/reach.ts";
import type { Log } from "../log.ts";
import type { Memories } from "../memories/rules/memories.ts";
import type { OAuth } from "../oauth/oauth.ts";
import type { Cookies } from "../pages/cookies.ts";
import type { SecurityLog } from "../security-log/security-log.ts";
import type { WebAuthn } from "../sign-in/passkeys/webauthn.ts";
import type { Provider } from "../sign-in/providers/provider.ts";
import type { Identities } from "../sign-in/providers/provider-sign-in.ts";
import type { Factors } from "../sign-in/second-step/factors.ts";
import type { Proof } from "../sign-in/second-step/proof.ts";
import { createAskForProof } from "../sign-in/second-step/proof-routes.tsx";
import type { PendingSignIns } from "../sign-in/second-step/second-step.ts";
import type { Sessions } from "../sign-in/sessions/sessions.ts";
import type { Visitors } from "../sign-in/sessions/visitor.ts";
import type { Hashing, SignIn } from "../sign-in/sign-in.ts";
import type { RemoveSignInMethod } from "../sign-in/sign-in-methods.ts";
import type { Undoable } from "../undo/undoable.ts";
import { createAccessRoutes } from "./account/access-routes.tsx";
import { createAccountRoutes } from "./account/account-routes.tsx";
import { createAuthenticatorRoutes, createPasskeyRoutes } from "./account/factor-routes.tsx";
import { createFactorChanges, createProofGuard } from "./account/proof-guard.tsx";
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
import { createLive } from "./live/live.ts";
import { createLiveRoutes } from "./live/live-routes.ts";
import { createMapRoutes } from "./map/map-routes.tsx";
import { createMemoryRoutes } from "./memories/memories-routes.tsx";
import { createListSources } from "./memories/memories-view.ts";
import { createOverviewRoutes } from "./overview/overview-routes.tsx";
import { createSecurityRoutes } from "./security/security-routes.tsx";
import { createConnectCommand, type ServerStatus } from "./server-status.ts";
import { createShownOnce } from "./session.ts";
import { createWelcomeRoutes } from "./welcome/welcome-routes.tsx";

/** The services that the dashboard uses. */
export interface DashboardParts {
  config: Pick<Config, "publicUrl" | "trustProxy" | "securityLogDays" | "passwords">;
  cookies: Cookies;
  visitors: Visitors;
  signIn: SignIn;
  hashing: Hashing;
  accounts: Accounts;
  invitations: Invitations;
  quotas: Quotas;
  sessions: Sessions;
  identities: Identities;
  factors: Factors;
  removeSignInMethod: RemoveSignInMethod;
  pendingSignIns: PendingSignIns;
  webauthn: WebAuthn;
  proof: Proof;
  providers: readonly Provider[];
  keys: Keys;
  oauth: Pick<OAuth, "grants">;
  memories: Memories;
  checks: Checks;
  serverStatus: ServerStatus | null;
  lastAgents: LastAgents;
  log: Log;
  record: RecordEvent;
  room: Room;
  turns: Pick<Turns, "step">;
  securityLog: SecurityLog;
  activity: Activity;
  undoable: Undoable;
  drain: Pick<Drain, "onBegin">;
  etags: Etags;
  ephemeral: Ephemeral;
  clock: () => number;
}

/** The routes of the dashboard and the help. */
export function createDashboardRoutes(parts: DashboardParts) {
  const { config, cookies, visitors, accounts, keys, memories, oauth, clock, record } = parts;
  const guard = createGuard({ config, cookies, visitors, isSetUp: accounts.isSetUp });
  const proved = createProofGuard({ ...parts, guard, askForProof: createAskForProof(parts) });
  const changes = createFactorChanges(parts);
  const shownOnce = createShownOnce(parts);
  const live = createLive({
    positions: {
      memories: (accountId) => memories.position(wholeAccount(accountId)),
      activity: parts.activity.newest,
    },
  });
  parts.drain.onBegin(live.close);
  const own = { guard, proved, keys, shownOnce, clock, record };
  const { publicUrl } = config;
  const connectCommand = createConnectCommand({ publicUrl, serverStatus: parts.serverStatus });
  const listSources = createListSources({ keys, grants: oauth.grants });
  return new Elysia()
    .use(createHelpRoutes())
    .use(createWelcomeRoutes({ ...parts, guard, grants: oauth.grants, connectCommand }))
    .use(createLiveRoutes({ guard, live }))
    .use(createActivityRoutes({ ...parts, guard, live }))
    .use(createOverviewRoutes({ ...parts, guard, live, clock }))
    .use(createExportRoutes({ ...parts, proved }))
    .use(createImportRoutes({ ...parts, guard }))
    .use(createMemoryRoutes({ ...parts, guard, live, listSources }))
    .use(createMapRoutes({ guard, memories, log: parts.log }))
    .use(createConnectRoutes({ ...own, publicUrl, connectCommand }))
    .use(createKeyRoutes(own))
    .use(createAppsRoutes({ guard, grants: oauth.grants, memories, record }))
    .use(createWrittenRoutes({ ...own, grants: oauth.grants, memories }))
    .use(createAccountRoutes({ ...parts, guard, proved }))
    .use(createPasskeyRoutes({ ...parts, proved, changes }))
    .use(createAuthenticatorRoutes({ ...parts, proved, changes }))
    .use(createAccessRoutes({ ...parts, guard, grants: oauth.grants }))
    .use(createSecurityRoutes({ ...parts, guard }))
    .use(createQuotaRoutes({ ...parts, guard }))
    .use(createServerRoutes({ ...parts, guard }))
    .use(createAdminRoutes({ ...parts, guard, grants: oauth.grants, shownOnce }));
}
