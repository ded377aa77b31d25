/** @jsxRuntime automatic @jsxImportSource #pages */
import { PASSKEYS } from "../pages/assets.ts";
import { ButtonLink, Copyable, CopyableText } from "../pages/button.tsx";
import { Field } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { QrCode } from "../pages/qr-code.tsx";
import { CodeForm } from "../sign-in/code-form.tsx";
import { PasskeyForm } from "../sign-in/passkey-form.tsx";
import { toBase32, totpAddress } from "../sign-in/totp.ts";
import { APP_PATH, NEW_PASSKEY_OPTIONS, PASSKEYS_PATH } from "./factors-section.tsx";
import { PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";
import type { Visit } from "./visit.ts";

/** The page on which a browser makes a passkey. */
export function NewPasskeyPage({ visit, problem }: { visit: Visit; problem?: string }): Markup {
  return (
    <Page
      visit={visit}
      section="account"
      title="Add a passkey"
      lead="This device, your phone or a security key signs you in, and asks you for a finger, a face or a PIN."
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
            hint="What you know it by, such as the device."
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

/** The page on which an app takes over the secret that it computes codes from. */
export function AppPage({
  visit,
  secret,
  issuer,
  problem,
}: {
  visit: Visit;
  secret: Uint8Array;
  /** Whose codes they are, as the app shows it. */
  issuer: string;
  problem?: string;
}): Markup {
  const address = totpAddress(secret, { issuer, email: visit.account.email });
  const groups = (toBase32(secret).match(/.{4}/g) ?? []).join(" ");
  return (
    <Page
      visit={visit}
      section="account"
      title="Set up an app for codes"
      lead="Any app for one-time codes (TOTP) takes it: a password manager, or one on your phone."
      problem={problem}
    >
      <div class="panel">
        <h2>1. Give the app this code</h2>
        <QrCode text={address} label="The secret, for the camera of your phone" />
        <p>
          On this device, <a href={address}>open it in your app</a>, or type the secret:
        </p>
        <Copyable text={groups} label="the secret" />
        <h2>2. Type what the app shows</h2>
        <CodeForm
          action={`${APP_PATH}/confirm`}
          token={visit.token}
          hasApp={true}
          hint="Six digits, which change every half minute."
          submit="Use this app"
        />
        <p>
          <a href={PATHS.account}>Back to the account</a>, without an app
        </p>
      </div>
    </Page>
  );
}

/** Shows recovery codes, this one time. */
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
          Each of them signs you in one time when you have lost your passkey or your app.{" "}
          <strong>This is the only time that they are shown.</strong> Print them, or keep them in a
          password manager.
        </p>
        <CopyableText text={codes.join("\n")} label="the recovery codes" />
        <div class="actions">
          <ButtonLink href={PATHS.account} kind="main">
            I have kept them
          </ButtonLink>
        </div>
      </div>
    </Page>
  );
}
