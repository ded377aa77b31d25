/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import { CODE, CREDENTIAL } from "../../sign-in/forms.tsx";
import { PATHS } from "../navigation.tsx";
import { createPages } from "../page-routes.tsx";
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

/** Adds and removes passkeys, and removes the password. Every request needs a fresh proof. */
export function createPasskeyRoutes({
  config,
  proved,
  changes,
  accounts,
  factors: { passkeys },
  removeSignInMethod,
  visitors,
  webauthn,
  record,
}: Parts) {
  const pages = createPages(proved);
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
      (tx) => passkeys.remove(id, wanted, tx),
      (remaining) =>
        remaining.passkeys > 0 ||
        (config.passwords && remaining.hasPassword) ||
        remaining.issuers.length > 0,
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
  return pages.routes;
}

/** Sets up and removes the authenticator app and recovery codes. Every request needs a fresh proof. */
export function createAuthenticatorRoutes({ config, proved, changes, factors, record }: Parts) {
  const { oneTimeCodes, recoveryCodes } = factors;
  const issuer = `ctxd (${new URL(config.publicUrl).host})`;

  const appPage = async (visit: Visit, problem?: string) => {
    const secret = await oneTimeCodes.findUnconfirmed(visit.account.id);
    if (secret === null)
      throw new AppError("not_found", "Set up an authenticator app on the page Account first.");
    return <AppPage visit={visit} secret={secret} issuer={issuer} {...(problem && { problem })} />;
  };

  const pages = createPages(proved);
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
  return pages.routes;
}
