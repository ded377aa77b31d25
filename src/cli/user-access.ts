import { describeRevoked, revokeAccess } from "../access/revoke-access.ts";
import type { Config } from "../config.ts";
import { CommandError, USAGE } from "./failure.ts";
import { requireAccount, withStores } from "./stores.ts";
import { confirm, isInteractive, say } from "./terminal.ts";

/** `ctxd user disable EMAIL` and `ctxd user enable EMAIL` */
export async function setDisabled(
  config: Config,
  email: string,
  isDisabled: boolean,
): Promise<void> {
  await withStores(config, async ({ accounts, record }) => {
    const account = await requireAccount(accounts, email);
    const { id: accountId, disabledAt } = account;
    if ((disabledAt !== null) === isDisabled) {
      return say(`${account.email} is ${isDisabled ? "disabled" : "enabled"} already.`);
    }
    if (isDisabled) await accounts.disable(accountId);
    else await accounts.enable(accountId);
    record(isDisabled ? "account_disabled" : "account_enabled", { accountId });
    say(
      isDisabled
        ? `Disabled ${account.email}: nobody can use the account until ctxd user enable ${account.email}.`
        : `Enabled ${account.email}.`,
    );
  });
}

/** `ctxd user reset-factor EMAIL` */
export async function resetFactor(config: Config, email: string): Promise<void> {
  await withStores(config, async ({ accounts, factors, pendingSignIns, sessions, record }) => {
    const account = await requireAccount(accounts, email);
    const { id: accountId } = account;
    if (!(await factors.isSetUp(accountId))) {
      return say(`${account.email} has no passkey and no app for codes.`);
    }
    await factors.reset(accountId);
    await pendingSignIns.endAll(accountId);
    await sessions.revokeAll(accountId);
    record("second_step_disabled", { accountId });
    const next = (await accounts.hasPassword(accountId))
      ? "the password alone signs in again"
      : `there is no password: ctxd user passwd ${account.email} sets one`;
    say(`Removed passkeys, app and recovery codes of ${account.email}: ${next}.`);
  });
}

/** `ctxd user revoke EMAIL` */
export async function revokeUser(
  config: Config,
  email: string,
  options: { yes?: boolean },
): Promise<void> {
  await withStores(config, async (stores) => {
    const { id: accountId, ...account } = await requireAccount(stores.accounts, email);
    if (!options.yes) {
      if (!isInteractive()) {
        throw new CommandError("Revoking all access needs --yes when nobody can be asked.", USAGE);
      }
      const question = `Revoke all keys and apps of ${account.email}, and sign out everywhere?`;
      if (!(await confirm(question))) throw new CommandError("Nothing was revoked.");
    }
    const revoked = await revokeAccess(accountId, stores);
    const amount = revoked.keys + revoked.apps + revoked.sessions;
    stores.record("access_revoked", { accountId, amount });
    say(`${account.email}: ${describeRevoked(revoked)}.`);
  });
}
