import { resolve } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import type { EndedAccess } from "../backup/end-access.ts";
import { restoreBackup } from "../backup/restore-backup.ts";
import type { Config } from "../config.ts";
import { count, describe } from "./backup.ts";
import { unlockBy } from "./encryption.ts";
import type { Environment } from "./failure.ts";
import { interruptible } from "./interruption.ts";
import { describeCommand } from "./invocation.ts";
import { createProgress } from "./progress.ts";
import { recordCommand } from "./stores.ts";
import { say } from "./terminal.ts";

/** `ctxd restore FOLDER` */
export async function restore(
  config: Config,
  source: string,
  { revokeKeys = false, identity = null }: { revokeKeys?: boolean; identity?: string | null },
  env: Environment,
): Promise<void> {
  const { dataDir } = config;
  const folder = resolve(source);
  const { onProgress, end } = createProgress();
  let ended: EndedAccess | null = null;
  const onAccessEnded = (what: EndedAccess) => {
    ended = what;
  };
  const manifest = await interruptible((signal) =>
    restoreBackup({
      ...{ folder, dataDir, version, revokeKeys, signal, onProgress, onAccessEnded },
      unlock: unlockBy(identity),
      isExpectedSealed: identity !== null,
    }),
  ).finally(end);
  await recordCommand(config, "backup_restored", { accountId: null });
  const moment = manifest.created_at.slice(0, 16).replace("T", " ");
  say(`Restored ${describe(manifest)} to ${dataDir}, as of ${moment}Z.`);
  if (ended) say(describeAccess(ended, revokeKeys));
  say("Start the server:");
  say(`  ${describeCommand("serve", config, env)}`);
}

/** What has ended, and what holds as it was when the backup was made. */
function describeAccess({ sessions, apps, invitations, keys }: EndedAccess, isRevoked: boolean) {
  const over = [
    count(sessions, "session"),
    `the tokens of ${count(apps, "app")}`,
    count(invitations, "invitation"),
    ...(isRevoked ? [count(keys, "API key")] : []),
  ];
  const stays = "Accounts, passwords and passkeys are those of that moment.";
  const holding = keys === 1 ? "1 API key holds" : `${keys} API keys hold`;
  const hint = `${holding} again, even one that was revoked later: ctxd key list shows, ctxd key revoke ends, and restore --revoke-keys ends all.`;
  return `Ended: ${over.join(", ")}. ${isRevoked || keys === 0 ? stays : `${stays} ${hint}`}`;
}
