/** @jsxRuntime automatic @jsxImportSource #pages */
import { revokeAccess } from "../../access/revoke-access.ts";
import { AppError } from "../../errors.ts";
import { clientAddress } from "../../http/requests/proxy.ts";
import { seeOther } from "../../http/responses.ts";
import { THEME_PATH, themeCookie, themeOf } from "../../pages/theme.tsx";
import { SIGN_IN_PATH } from "../../sign-in/paths.ts";
import { noPasswords } from "../../sign-in/sign-in.ts";
import { canSignIn } from "../../sign-in/sign-in-methods.ts";
import { createPause } from "../../timing/pause.ts";
import { refererOf } from "../guard.tsx";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { AccountPage, PASSWORD_PATH, PROVIDERS_PATH, SESSIONS_PATH } from "./account-page.tsx";

/** The page of a person's own account: password, providers and sessions. */
export function addAccountPage({
  config,
  pages,
  accounts,
  sessions,
  visitors,
  signIn,
  hashing,
  identities,
  factors,
  removeSignInMethod,
  webauthn,
  providers,
  cookies,
  record,
}: Parts): void {
  const providersOf = async (accountId: string) => {
    const issuers = await identities.issuers(accountId);
    return providers.map(({ id, name, issuer }) => ({
      id,
      name,
      isLinked: issuers.includes(issuer),
    }));
  };

  const page = async (visit: Visit, problem?: string) => {
    const { id } = visit.account;
    const pause = createPause();
    const own = await sessions.list(id);
    await pause();
    return (
      <AccountPage
        visit={visit}
        hasPassword={await accounts.hasPassword(id)}
        passwords={config.passwords}
        factors={{
          passkeys: await factors.passkeys.list(id),
          canAddPasskeys: webauthn.isAvailable,
          hasApp: await factors.oneTimeCodes.isSetUp(id),
          recoveryCodes: await factors.recoveryCodes.count(id),
        }}
        sessions={own}
        providers={await providersOf(id)}
        current={sessions.idOf(visit.session)}
        theme={themeOf(cookies, visit.request)}
        {...(problem !== undefined && { problem })}
      />
    );
  };

  pages.get(PATHS.account, (visit) => page(visit));
  pages.post(THEME_PATH, ({ request }, form) => {
    const cookie = themeCookie(cookies, form.get("theme"));
    return seeOther(refererOf(request, config.publicUrl) ?? PATHS.account, cookie ? [cookie] : []);
  });
  pages.proved.post(
    PASSWORD_PATH,
    async ({ account: { id, email }, session, request }, form) => {
      if (!config.passwords) throw noPasswords();
      let former: string | null = null;
      if (await accounts.hasPassword(id)) {
        const password = form.get("current") ?? "";
        const address = clientAddress(request, config);
        // Failed sign-ins of strangers must not lock out a person who is signed in.
        const browser = sessions.idOf(session);
        const verified = await signIn.check({ email, password }, { address, browser });
        if (verified === null) {
          record(request, "proof_failed", { accountId: id });
          throw new AppError("validation_failed", "The current password is wrong.");
        }
        former = verified.passwordMark;
      }
      // Hashing takes a while. If the password is changed meanwhile, this change must not overwrite it.
      const next = form.get("next") ?? "";
      const set = () => accounts.setPassword(id, next, former);
      const passwordMark = await hashing(set, "known");
      // A trigger in the database has ended all sessions of the old password, including this one.
      const welcome = await visitors.welcome(request, id, { passwordMark });
      record(request, "password_changed", { accountId: id });
      return { to: PATHS.account, notice: "Your password is changed.", welcome };
    },
    page,
  );
  pages.proved.post(
    `${PROVIDERS_PATH}/:id/disconnect`,
    async ({ account: { id }, request }, _, wanted) => {
      const provider = providers.find((each) => each.id === wanted);
      if (!provider) throw new AppError("not_found", "This provider is not set up on this server.");
      const other = config.passwords ? "Set a password" : "Add a passkey";
      await removeSignInMethod(
        id,
        (tx) => identities.unlink(id, provider.issuer, tx),
        (remaining) => canSignIn(remaining, { passwords: config.passwords, providers }),
        `${other} first: this is your only way in.`,
      );
      const facts = { accountId: id, subjectId: provider.id, subject: provider.name };
      record(request, "provider_disconnected", facts);
      return { to: PATHS.account, notice: `${provider.name} is disconnected.` };
    },
    page,
  );
  pages.post(
    `${SESSIONS_PATH}/:id/revoke`,
    async ({ account, request }, _, id) => {
      await sessions.revoke(account.id, id);
      record(request, "sessions_ended", { accountId: account.id, amount: 1 });
      return { to: PATHS.account, notice: "The browser is signed out." };
    },
    page,
  );
  pages.post(`${SESSIONS_PATH}/revoke-others`, async ({ account, session, request }) => {
    const count = await sessions.revokeAll(account.id, session);
    record(request, "sessions_ended", { accountId: account.id, amount: count });
    const browsers = count === 1 ? "one other browser" : `${count} other browsers`;
    return { to: PATHS.account, notice: `Signed out in ${browsers}.` };
  });
}

/** The page on which people revoke all access to their own account. */
const REVOKE_PATH = `${PATHS.account}/revoke`;

/** Revokes all access to the person's own account. */
export function addOwnAccessPage({ pages, record, ...stores }: Parts): void {
  pages.confirmed(
    REVOKE_PATH,
    "account",
    () => ({
      title: "Revoke all access to your account?",
      confirm: "Revoke everything",
      cancel: PATHS.account,
      text: (
        <>
          <RevokedList />
          <p>
            You are signed out in this browser too, and can sign in again. Your memories stay.
            Create new keys and connect apps again where you still need them.
          </p>
        </>
      ),
    }),
    async ({ account: { id }, request }) => {
      const { keys, apps, sessions } = await revokeAccess(id, stores);
      record(request, "access_revoked", { accountId: id, amount: keys + apps + sessions });
      return { to: SIGN_IN_PATH };
    },
  );
}

export function RevokedList() {
  return (
    <ul>
      <li>all API keys stop working</li>
      <li>all connected apps are disconnected</li>
      <li>all browsers are signed out</li>
    </ul>
  );
}
