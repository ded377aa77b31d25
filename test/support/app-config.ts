import type { Config } from "../../src/config/config.ts";

/** Settings of an app that listens on this machine alone and limits nothing. */
export const APP_CONFIG = {
  publicUrl: "http://localhost",
  tls: null,
  trustProxy: false,
  allowHttp: false,
  rateLimit: false,
  passwords: true,
  registration: "first",
  providers: { github: null, google: null, oidc: null },
  securityLogDays: 90,
  securityContact: null,
} as const satisfies Partial<Config>;
