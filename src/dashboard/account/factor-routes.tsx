/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import { CODE, CREDENTIAL } from "../../sign-in/forms.tsx";
import { canSignIn } from "../../sign-in/sign-in-methods.ts";
import type { FormOutcome } from "../guard.tsx";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import {
  APP_PATH,
  AppPage,
  NEW_PASSKEY_OPTIONS,
  NEW_PASSKEY_PATH,
  NewPasskeyPage,
  PASSKEYS_PATH,
  RECOVERY_CODES_PATH,
  REMOVE_PASSWORD_PATH,
  RecoveryCodesPage,
} from "./factor-pages.tsx";

/** Ends other sessions and issues recovery codes when a person's second factors change. */
function createFactorChanges({
  factors: { recoveryCodes },
  pendingSignIns,
  sessions,
  record,
}: Parts) {
  /** Ends the person's other sessions and unfinished sign-ins: an intruder may have started them. */
  const endOthers = async ({ account, request, session }: Visit) => {
    const amount = await sessions.revokeAll(account.id, session);
    if (amount > 0) record(request, "sessions_ended", { accountId: account.id, amount });
    await pendingSignIns.endAll(account.id);
  };

  return {
    /** After a factor was added. The first factor comes with recovery codes. */
    async added(visit: Visit, notice: string): Promise<FormOutcome> {
      const codes = await recoveryCodes.issueFirst(visit.account.id);
      if (codes === null) return { to: PATHS.account, notice };
      await endOthers(visit);
      record(visit.request, "recovery_codes_created", { accountId: visit.account.id });
      return <RecoveryCodesPage visit={visit} codes={codes} />;
    },

    /** After a factor was removed. */
    async removed(visit: Visit, notice: string): Promise<FormOutcome> {
      await recoveryCodes.removeUnneeded(visit.account.id);
      await endOthers(visit);
      return { to: PATHS.account, notice };
    },
  };
}

/** Adds and removes passkeys, and removes the password. Every request needs a fresh proof. */
export function addPasskeyPages(parts: Parts): void {
  const { config, accounts, visitors, webauthn, providers, record } = parts;
  const { removeSignInMethod, factors } = parts;
  const pages = parts.pages.proved;
  const changes = createFactorChanges(parts);
  pages.get(NEW_PASSKEY_PATH, (visit) => <NewPasskeyPage visit={visit} />);
  pages.post(NEW_PASSKEY_OPTIONS, async ({ session, account }) =>
    Response.json(await webauthn.registrationOptions(session, account)),
  );
  pages.post(
    PASSKEYS_PATH,
    async (visit, form) => {
      const credential = form.get(CREDENTIAL) ?? "";
      const name = form.get("name") ?? "";
      await webauthn.register(visit.session, visit.account, { credential, name });
      record(visit.request, "passkey_added", { accountId: visit.account.id, subject: name });
      return changes.added(visit, "The passkey is added.");
    },
    (visit, problem) => <NewPasskeyPage visit={visit} problem={problem} />,
  );
  pages.post(`${PASSKEYS_PATH}/remove`, async (visit, form) => {
    const { id } = visit.account;
    const wanted = form.get("id") ?? "";
    const other = config.passwords ? "Set a password" : "Add another passkey";
    await removeSignInMethod(
      id,
      (tx) => factors.passkeys.remove(id, wanted, tx),
      (remaining) => canSignIn(remaining, { passwords: config.passwords, providers }),
      `${other} first: this is your only way in.`,
    );
    record(visit.request, "passkey_removed", { accountId: id });
    return changes.removed(visit, "The passkey is removed.");
  });
  pages.post(REMOVE_PASSWORD_PATH, async ({ account: { id }, request }) => {
    await removeSignInMethod(
      id,
      (tx) => accounts.removePassword(id, tx),
      (remaining) => remaining.passkeys > 0 && remaining.recoveryCodes > 0,
      "Add a passkey and make recovery codes first.",
    );
    record(request, "password_removed", { accountId: id });
    // A trigger in the database has ended all sessions of the password, including this one.
    const welcome = await visitors.welcome(request, id, { passwordMark: null });
    return { to: PATHS.account, notice: "Your password is removed.", welcome };
  });
}

/** Sets up and removes the authenticator app and recovery codes. Every request needs a fresh proof. */
export function addAuthenticatorPages(parts: Parts): void {
  const { config, factors, record } = parts;
  const pages = parts.pages.proved;
  const { oneTimeCodes, recoveryCodes } = factors;
  const changes = createFactorChanges(parts);
  const issuer = `ctxd (${new URL(config.publicUrl).host})`;

  const appPage = async (visit: Visit, problem?: string) => {
    const secret = await oneTimeCodes.findUnconfirmed(visit.account.id);
    if (secret === null)
      throw new AppError("not_found", "Set up an authenticator app on the page Account first.");
    return <AppPage visit={visit} secret={secret} issuer={issuer} {...(problem && { problem })} />;
  };

  pages.post(APP_PATH, async ({ account }) => {
    await oneTimeCodes.begin(account.id);
    return { to: APP_PATH };
  });
  pages.get(APP_PATH, (visit) => appPage(visit));
  pages.post(
    `${APP_PATH}/confirm`,
    async (visit, form) => {
      if (!(await oneTimeCodes.confirm(visit.account.id, form.get(CODE) ?? ""))) {
        throw new AppError(
          "validation_failed",
          "This code is wrong. Enter the code that the app shows now.",
        );
      }
      record(visit.request, "second_step_enabled", { accountId: visit.account.id });
      return changes.added(visit, "The authenticator app is set up.");
    },
    appPage,
  );
  pages.post(`${APP_PATH}/remove`, async (visit) => {
    await oneTimeCodes.remove(visit.account.id);
    record(visit.request, "second_step_disabled", { accountId: visit.account.id });
    return changes.removed(visit, "The authenticator app is removed.");
  });
  pages.post(RECOVERY_CODES_PATH, async (visit) => {
    if (!(await factors.isSetUp(visit.account.id))) {
      throw new AppError("conflict", "Set up a passkey or an authenticator app first.");
    }
    const codes = await recoveryCodes.replace(visit.account.id);
    record(visit.request, "recovery_codes_created", { accountId: visit.account.id });
    return <RecoveryCodesPage visit={visit} codes={codes} />;
  });
}
