/** @jsxRuntime automatic @jsxImportSource #pages */
import { PASSKEYS } from "../../pages/assets.ts";
import { ButtonLink, Copyable, CopyableText } from "../../pages/button.tsx";
import { Field } from "../../pages/field.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { QrCode } from "../../pages/qr-code.tsx";
import { CodeForm } from "../../sign-in/code-form.tsx";
import { PasskeyForm } from "../../sign-in/passkey-form.tsx";
import { toBase32, totpAddress } from "../../sign-in/totp.ts";
import { PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../visit.ts";
import { APP_PATH, NEW_PASSKEY_OPTIONS, PASSKEYS_PATH } from "./factors-section.tsx";

/** The page on which the browser creates a passkey. */
export function NewPasskeyPage({ visit, problem }: { visit: Visit; problem?: string }): Markup {
  return (
    <Page
      visit={visit}
      section="account"
      title="Add a passkey"
      lead="You sign in with this device, your phone or a security key, and confirm with a fingerprint, your face or a PIN."
      problem={problem}
      assets={[PASSKEYS]}
    >
      <div class="panel">
        <PasskeyForm
          does="create"
          action={PASSKEYS_PATH}
          options={NEW_PASSKEY_OPTIONS}
          token={visit.token}
          label="Add a passkey"
          kind="main"
        >
          <Field
            label="Name"
            name="name"
            hint="A name for your list of passkeys, such as the device"
            placeholder="Laptop"
            maxlength={60}
          />
        </PasskeyForm>
        <p>
          <a href={PATHS.account}>Back to the account</a>
        </p>
      </div>
    </Page>
  );
}

/** The page that gives an authenticator app its secret. */
export function AppPage({
  visit,
  secret,
  issuer,
  problem,
}: {
  visit: Visit;
  secret: Uint8Array;
  /** The name of this server, as the app shows it. */
  issuer: string;
  problem?: string;
}): Markup {
  const address = totpAddress(secret, { issuer, email: visit.account.email });
  const groups = (toBase32(secret).match(/.{4}/g) ?? []).join(" ");
  return (
    <Page
      visit={visit}
      section="account"
      title="Set up an authenticator app"
      lead="You can use any app for one-time codes (TOTP), such as a password manager or an app on your phone."
      problem={problem}
    >
      <div class="panel">
        <h2>1. Scan this code with the app</h2>
        <QrCode text={address} label="The secret, for the camera of your phone" />
        <p>
          On this device, <a href={address}>open it in your app</a> or type the secret:
        </p>
        <Copyable text={groups} label="the secret" />
        <h2>2. Enter the code that the app shows</h2>
        <CodeForm
          action={`${APP_PATH}/confirm`}
          token={visit.token}
          hasApp={true}
          hint="Six digits that change every 30 seconds"
          submit="Use this app"
        />
        <p>
          <a href={PATHS.account}>Cancel and go back to the account</a>
        </p>
      </div>
    </Page>
  );
}

/** Shows new recovery codes. They are shown only this once. */
export function RecoveryCodesPage({
  visit,
  codes,
}: {
  visit: Visit;
  codes: readonly string[];
}): Markup {
  return (
    <Page visit={visit} section="account" title="Your recovery codes">
      <div class="panel">
        <p>
          If you lose your passkey or authenticator app, each of these codes signs you in once.{" "}
          <strong>The codes are shown only once.</strong> Print them, or save them in a password
          manager.
        </p>
        <CopyableText text={codes.join("\n")} label="the recovery codes" />
        <div class="actions">
          <ButtonLink href={PATHS.account} kind="main">
            I have saved them
          </ButtonLink>
        </div>
      </div>
    </Page>
  );
}
