import { resolve } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { restoreBackup } from "../backup/restore-backup.ts";
import type { Config } from "../config.ts";
import { describe } from "./backup.ts";
import type { Environment } from "./failure.ts";
import { interruptible } from "./interruption.ts";
import { describeCommand } from "./invocation.ts";
import { createProgress } from "./progress.ts";
import { say } from "./terminal.ts";

/** `ctxd restore FOLDER` */
export async function restore(config: Config, source: string, env: Environment): Promise<void> {
  const { dataDir } = config;
  const { onProgress, end } = createProgress();
  const manifest = await interruptible((signal) =>
    restoreBackup({ folder: resolve(source), dataDir, version, signal, onProgress }),
  ).finally(end);
  const moment = manifest.created_at.slice(0, 16).replace("T", " ");
  say(`Restored ${describe(manifest)} to ${dataDir}, as of ${moment}Z.`);
  say("Accounts, passwords and API keys are those of that moment too. Start the server:");
  say(`  ${describeCommand("serve", config, env)}`);
}
