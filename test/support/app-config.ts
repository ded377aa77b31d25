import { tmpdir } from "node:os";
import { type Config, readConfig } from "../../src/config/config.ts";

/** The default settings, without limits on requests. An app itself uses neither of the folders. */
export const APP_CONFIG: Config = readConfig(
  { CTXD_RATE_LIMIT: "off", CTXD_PUBLIC_URL: "http://localhost", CTXD_DATA_DIR: tmpdir() },
  {},
);
