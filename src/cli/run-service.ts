import { readFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readConfig } from "../config.ts";
import { createLog } from "../log.ts";
import { createLogFile } from "../server/log-file.ts";
import { serve } from "../server/serve.ts";
import { leaveConsole } from "../system/console.ts";
import { CommandError, type Environment } from "./failure.ts";
import { greet } from "./greeting.ts";
import type { Configure } from "./program.ts";

/** What `ctxd service install` writes for a system whose services have no environment of their own. */
const Kept = Type.Object({
  settings: Type.Record(Type.String(), Type.String()),
  logFile: Type.String(),
});

/** `ctxd service run FILE`: the server with the settings that are kept in a file. */
export async function runService(
  file: string,
  configure: Configure,
  env: Environment,
): Promise<void> {
  const { settings, logFile } = readKept(file);
  leaveConsole();
  const kept = { ...env, ...settings };
  // A folder that is not the usual one is in the command, as for other systems.
  const config = readConfig(kept, { CTXD_DATA_DIR: configure().dataDir });
  await serve(config, createLog(config, createLogFile(logFile)), {
    env: kept,
    onStart: (started) => greet(config, kept, started),
  });
}

function readKept(file: string): Static<typeof Kept> {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (Value.Check(Kept, kept)) return kept;
  } catch {
    // The same sentence for both.
  }
  throw new CommandError(`${file} has no settings of a service: run ctxd service install again.`);
}
