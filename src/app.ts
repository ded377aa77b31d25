import { Elysia } from "elysia";
import type { Config } from "./config.ts";
import { createDocs } from "./http/docs.ts";
import { errorResponse } from "./http/errors.ts";
import { allowLongRequests } from "./http/header-size.ts";
import { type Checks, createHealthRoutes } from "./http/health.ts";
import { createHttpsRule } from "./http/https-rule.ts";
import { createUnrouted } from "./http/not-found.ts";
import { createAuthorize, type Principal } from "./http/principal.ts";
import { SECURITY_HEADERS } from "./http/security-headers.ts";
import type { Keys } from "./keys/keys.ts";
import type { Log } from "./log.ts";
import { createMcpRoutes } from "./mcp/routes.ts";
import type { Memories } from "./memories/memories.ts";
import { createMemoryRoutes } from "./memories/routes.ts";

/** The whole HTTP server, ready to listen. */
export function createApp({
  config,
  memories,
  keys,
  checks,
  local,
  log,
}: {
  config: Pick<Config, "publicUrl" | "tls" | "trustProxy" | "allowHttp">;
  memories: Memories;
  keys: Pick<Keys, "authenticate">;
  checks: Checks;
  /** Who is behind a request that came by the local socket; null for others. */
  local?: (request: Request) => Principal | null;
  log: Log;
}) {
  allowLongRequests();
  const checkHttps = createHttpsRule(config);
  const authorize = createAuthorize({ keys, local });

  const app = new Elysia({ normalize: false })
    .onRequest(({ request, set }) => {
      Object.assign(set.headers, SECURITY_HEADERS);
      checkHttps(request);
    })
    .onError(({ code, error, path, set }) => {
      if (code !== "NOT_FOUND") return errorResponse(error, log);
      const { error: unrouted, allow } = explainUnrouted(path);
      if (allow.length > 0) set.headers.allow = allow.join(", ");
      return errorResponse(unrouted, log);
    })
    .use(createDocs(config.publicUrl))
    .use(createMcpRoutes({ memories, authorize, config, log }))
    .group("/api", (api) =>
      api.use(createHealthRoutes(checks)).use(createMemoryRoutes({ memories, authorize })),
    );
  const explainUnrouted = createUnrouted(app.routes);
  return app;
}
