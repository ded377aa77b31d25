import { Elysia } from "elysia";
import type { Access } from "./access/access.ts";
import { recordRecalls, withActivity, withSearchActivity } from "./activity/with-activity.ts";
import { createCapture } from "./capture/capture.ts";
import type { ProgressFiles } from "./capture/progress.ts";
import { createRecall } from "./capture/recall.ts";
import { createCaptureRoutes } from "./capture/routes.ts";
import { withDistilling } from "./capture/with-distilling.ts";
import type { Config } from "./config/config.ts";
import type { DashboardParts } from "./dashboard/parts.ts";
import { createDashboardRoutes } from "./dashboard/routes.tsx";
import type { ServerStatus } from "./dashboard/server-status.ts";
import { createSessionPrincipal } from "./dashboard/session.ts";
import { checkPath, createUnrouted, errorResponse } from "./http/errors.ts";
import { allowLongRequests } from "./http/header-size.ts";
import { createHealthRoutes } from "./http/health.ts";
import { createDrain, type Drain } from "./http/load/drain.ts";
import { createLimits } from "./http/load/limits.ts";
import { createRoom } from "./http/load/room.ts";
import { createTurns, createUnreadLimit } from "./http/load/turns.ts";
import { createMetricsRoutes } from "./http/metrics-routes.ts";
import { createObserver, createRouteNames, requestId } from "./http/observer.ts";
import { type Authorize, createAuthorize, type Principal } from "./http/principal.ts";
import { createLastAgents, createRecord } from "./http/record-event.ts";
import { createHttpsRule, rememberPeer } from "./http/requests/proxy.ts";
import { createCors, createStrictTransport, SECURITY_HEADERS } from "./http/security-headers.ts";
import { createSecurityTxt } from "./http/security-txt.ts";
import type { ProjectOf } from "./import/transcripts/folders.ts";
import { createMcpRoutes } from "./mcp/routes.ts";
import { readSessionHeaders } from "./mcp/session-headers.ts";
import { createMemoryRoutes, createStatsRoutes } from "./memories/http/routes.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { addConsentPages } from "./oauth/authorize-routes.tsx";
import { RESOURCE_METADATA_PATH } from "./oauth/discovery.ts";
import { createOAuthRoutes } from "./oauth/routes.ts";
import { createCookies } from "./pages/cookies.ts";
import { createDocs } from "./pages/docs-routes.tsx";
import { asksForPage, errorPage } from "./pages/page-response.tsx";
import { createPageGuard, createPageRoutes } from "./pages/routes.ts";
import { addPasskeyPage } from "./sign-in/passkeys/passkey-routes.tsx";
import { createWebAuthn } from "./sign-in/passkeys/webauthn.ts";
import { createProviderRoutes } from "./sign-in/providers/provider-routes.tsx";
import { createProviderSignIn } from "./sign-in/providers/provider-sign-in.ts";
import { createProviders } from "./sign-in/providers/providers.ts";
import { addSignInPages, type SignInParts } from "./sign-in/routes.tsx";
import { createProof } from "./sign-in/second-step/proof.ts";
import { addProofPage } from "./sign-in/second-step/proof-routes.tsx";
import { addRecoveryPage } from "./sign-in/second-step/recovery-routes.tsx";
import { createSecondStep } from "./sign-in/second-step/second-step.ts";
import { addSecondStepPage } from "./sign-in/second-step/second-step-routes.tsx";
import { createVisitors } from "./sign-in/sessions/visitor.ts";
import { createHashing, createSignIn } from "./sign-in/sign-in.ts";
import { createSignUp } from "./sign-in/sign-up/sign-up.ts";
import { addSignUpPages } from "./sign-in/sign-up/sign-up-routes.tsx";
import { createSpaceRoutes } from "./spaces/routes.ts";
import { withSpaces } from "./spaces/with-spaces.ts";
import { createTidyRoutes } from "./tidy/routes.ts";
import { createTidy } from "./tidy/tidy.ts";
import { createAgentReports } from "./uses/agent-reports.ts";
import { createAgentRoutes } from "./uses/routes.ts";
import { countRecalled, withChangesCounted, withFindsCounted } from "./uses/with-uses.ts";

/** What the server consists of. The optional parts are those that tests leave out. */
interface AppParts
  extends Pick<
    DashboardParts,
    "memories" | "keys" | "checks" | "securityLog" | "activity" | "uses" | "undoable" | "log"
  > {
  config: Config;
  access: Access;
  /** What the program knows about itself; null without a server program. */
  serverStatus?: ServerStatus | null;
  /** The sender of a request on the local socket; null for other requests. */
  local?: (request: Request) => Principal | null;
  /** Ids of the agents of this machine whose hooks capture; none by default. */
  capturing?: () => Promise<readonly string[]>;
  /** How far transcripts are captured. */
  progress: ProgressFiles;
  /** The project of a folder of this machine. */
  projectOf?: ProjectOf;
  metrics?: Metrics;
  /** Ends the server; by default never. */
  drain?: Drain;
  /** Seconds that a client may leave the answer to long work room. */
  idleTimeout?: number | undefined;
}

/** The whole HTTP server, ready to listen. */
export function createApp({
  config,
  access,
  serverStatus = null,
  local = () => null,
  capturing = async () => [],
  progress,
  projectOf = async () => null,
  metrics = createMetrics(),
  drain = createDrain(),
  idleTimeout,
  ...services
}: AppParts) {
  const { keys, checks, securityLog, activity, uses, log } = services;
  const { publicUrl } = config;
  allowLongRequests();
  const checkHttps = createHttpsRule(config);
  const strictTransportOf = createStrictTransport(config);
  const corsOf = createCors(config);
  const cookies = createCookies(config);
  const turns = createTurns();
  const visitors = createVisitors({ ...access, cookies, takeTurn: turns.take });
  const session = createSessionPrincipal({ publicUrl, visitors, sessions: access.sessions });
  const isLocal = (request: Request) => local(request) !== null;
  const record = createRecord({ securityLog, config, isLocal });
  const limits = createLimits({ config, clock: access.clock });
  const lastAgents = createLastAgents(access);
  const authorizeCaller = createAuthorize({
    keys,
    tokens: access.oauth.tokens,
    local,
    session,
    record,
    admit: access.spaces.admit,
    count: limits.countHolder,
    begin: turns.take,
  });
  const authorize: Authorize = async (request, scope) => {
    const caller = await authorizeCaller(request, scope);
    lastAgents.noteRequest(caller, request);
    return caller;
  };
  const authorizeHook: Authorize = async (request, scope) => {
    const caller = await authorize(request, scope);
    return { ...caller, agentId: readSessionHeaders(request.headers).agentId };
  };
  const resourceMetadata = publicUrl + RESOURCE_METADATA_PATH;
  const changed = withDistilling(
    withSpaces(withActivity(withChangesCounted(services.memories, uses), activity)),
  );
  const memories = withFindsCounted(withSearchActivity(changed, activity), uses);
  const noteRecall = recordRecalls(activity);
  const countRecall = countRecalled(uses);
  const recall = createRecall({
    memories: changed,
    onRecall(reach, request, ids) {
      noteRecall(reach, request, ids);
      countRecall(reach, ids);
    },
  });
  // What people look at in the dashboard is no activity of an agent.
  const shownRecall = createRecall({ memories: changed });
  const capture = createCapture({ memories, progress, projectOf, clock: access.clock });
  const { undoable } = services;
  const sources = tidySources({ keys, uses, grants: access.oauth.grants });
  const tidy = createTidy({ memories, undoable, clock: access.clock, sources });
  const loadMcpServer = async () => {
    const { createMcpServerFactory } = await import("./mcp/server.ts");
    return createMcpServerFactory({ memories, recall, tidy, publicUrl, log });
  };

  const reportAgents = createAgentReports({
    ...{ activity, uses, keys, grants: access.oauth.grants, clock: access.clock, capturing },
  });
  const room = createRoom(turns);
  const own = {
    lastAgents,
    reportAgents,
    recall: shownRecall,
    cookies,
    visitors,
    record,
    room,
    turns,
  };
  const isOwner = async ({ accountId }: Principal) =>
    (await access.accounts.find(accountId))?.role === "owner";
  const observe = createObserver({ metrics, log, routeOf: (request) => routeOf(request) });

  const app = new Elysia({ normalize: false })
    .wrap(turns.endTurns)
    .wrap(limits.addLimitHeaders)
    .wrap(observe)
    .wrap(drain.closeWhenStopping)
    .wrap(createUnreadLimit(idleTimeout))
    .onRequest(({ request, server, set }) => {
      rememberPeer(request, server);
      Object.assign(set.headers, SECURITY_HEADERS, { "x-request-id": requestId(request) });
      Object.assign(set.headers, strictTransportOf(request));
      checkHttps(request);
      const cors = corsOf(request);
      if (cors) Object.assign(set.headers, cors);
      // A preflight has no credentials; the request after it has them.
      if (cors && request.method === "OPTIONS") return new Response(null, { status: 204 });
      if (!isLocal(request)) limits.countAddress(request, server);
      checkPath(request);
    })
    .onError(({ code, error, path, request, set }) => {
      const toPage = asksForPage(request) ? errorPage : null;
      const context = { log, resourceMetadata, id: requestId(request), toPage };
      if (code !== "NOT_FOUND") return errorResponse(error, context);
      const { error: unrouted, allow } = explainUnrouted(path);
      if (allow.length > 0) set.headers.allow = allow.join(", ");
      return errorResponse(unrouted, context);
    })
    .use(createDocs(publicUrl))
    .use(createMcpRoutes({ loadServer: loadMcpServer, authorize, turns, lastAgents, config, log }))
    .use(createPageRoutes(own))
    .use(createSecurityTxt({ config, clock: access.clock }))
    .use(
      createPersonRoutes(
        { ...services, ...own, tidy, memories, serverStatus, drain },
        config,
        access,
      ),
    )
    .group("/api", (api) =>
      api
        .use(createHealthRoutes(checks, drain))
        .use(createMetricsRoutes({ metrics, authorize, isOwner }))
        .use(createCaptureRoutes({ capture, recall, projectOf, authorize: authorizeHook, log }))
        .use(createTidyRoutes({ tidy, authorize, record, room }))
        .use(createMemoryRoutes({ memories, authorize, record, room, turns, etags: access.etags }))
        .use(createStatsRoutes({ memories, authorize }))
        .use(createAgentRoutes({ reportAgents, authorize }))
        .use(createSpaceRoutes({ ...access, authorize, record, publicUrl })),
    );
  const explainUnrouted = createUnrouted(app.routes);
  const routeOf = createRouteNames(app.routes);
  return app;
}

/** The parts of the dashboard that neither `Access` has nor `createPersonRoutes` creates. */
type PersonParts = Omit<DashboardParts, keyof Access | keyof SignInParts | "hashing"> &
  Pick<SignInParts, "cookies" | "visitors" | "record" | "log">;

/** The pages for people, and the endpoints through which they give programs access. */
function createPersonRoutes(parts: PersonParts, config: Config, access: Access) {
  const { setUpToken, ephemeral, clock } = access;
  const { publicUrl, registration, passwords } = config;
  const limits = { hashing: createHashing(), ephemeral, passwords };
  const signIn = createSignIn({ ...access, ...limits });
  const signUp = createSignUp({ ...access, ...limits, registration, setUpToken });
  const providers = createProviders(config.providers, { publicUrl, clock });
  const providerSignIn = createProviderSignIn({ ...access, providers, registration });
  const webauthn = createWebAuthn({ ...access, ...access.factors, publicUrl });
  const secondStep = createSecondStep({ ...access, ...parts, webauthn });
  const proof = createProof({ ...access, signIn, webauthn, passwords });
  const pageGuard = createPageGuard({ config, cookies: parts.cookies });
  const { pages } = pageGuard;
  const shared = {
    ...access,
    ...parts,
    ...limits,
    config,
    pageGuard,
    pages,
    signIn,
    signUp,
    providers,
    providerSignIn,
    webauthn,
    secondStep,
    proof,
  };
  addSignInPages(shared);
  addSecondStepPage(shared);
  addPasskeyPage(shared);
  addRecoveryPage(shared);
  addProofPage(shared);
  addSignUpPages(shared);
  addConsentPages(shared);
  return new Elysia()
    .use(pages.routes)
    .use(createProviderRoutes(shared))
    .use(createOAuthRoutes(shared))
    .use(createDashboardRoutes(shared));
}

/** The API as types, for clients made with Eden. */
export type App = ReturnType<typeof createApp>;

/** What tidying asks other parts. */
function tidySources({
  keys,
  grants,
  uses,
}: Pick<AppParts, "keys" | "uses"> & { grants: Access["oauth"]["grants"] }) {
  return {
    /** Those of some keys and grants that were revoked or do not exist. */
    revoked: async (ids: readonly string[]) => [
      ...(await keys.gone(ids.filter((id) => id.startsWith("key_")))),
      ...(await grants.gone(ids.filter((id) => id.startsWith("grant_")))),
    ],
    neverFound: uses.neverFound,
  };
}
