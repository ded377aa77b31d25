/** @jsxRuntime automatic @jsxImportSource #pages */
import { PASSKEYS } from "../../pages/assets.ts";
import { Button, ButtonLink, Copyable, CopyableText } from "../../pages/button.tsx";
import { Field } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Moment } from "../../pages/moment.tsx";
import { Table } from "../../pages/table.tsx";
import { CodeForm, PasskeyForm } from "../../sign-in/forms.tsx";
import type { PasskeyRecord } from "../../sign-in/passkeys/passkeys.ts";
import { ACCOUNT_PATH } from "../../sign-in/paths.ts";
import { toBase32, totpAddress } from "../../sign-in/second-step/one-time-codes.ts";
import { RECOVERY_CODES } from "../../sign-in/second-step/recovery-codes.ts";
import { PATHS } from "../navigation.tsx";
import { Page, Setting } from "../page.tsx";
import type { Visit } from "../session.ts";
import { QrCode } from "./qr-code.tsx";

export const PASSKEYS_PATH = `${ACCOUNT_PATH}/passkeys`;
export const NEW_PASSKEY_PATH = `${PASSKEYS_PATH}/new`;
export const NEW_PASSKEY_OPTIONS = `${PASSKEYS_PATH}/options`;
export const APP_PATH = `${ACCOUNT_PATH}/app`;
export const RECOVERY_CODES_PATH = `${ACCOUNT_PATH}/recovery-codes`;
export const REMOVE_PASSWORD_PATH = `${ACCOUNT_PATH}/password/remove`;

/** The factors of a person besides the password. */
export interface OwnFactors {
  readonly passkeys: readonly PasskeyRecord[];
  /** Whether browsers allow passkeys at this server's address. */
  readonly canAddPasskeys: boolean;
  /** Whether an authenticator app is set up. */
  readonly hasApp: boolean;
  readonly recoveryCodes: number;
}

/** The section of the account page for passkeys, the authenticator app and recovery codes. */
export function FactorsSection({
  token,
  hasPassword,
  passkeys,
  canAddPasskeys,
  hasApp,
  recoveryCodes,
}: OwnFactors & {
  token: string;
  hasPassword: boolean;
}) {
  const isSetUp = passkeys.length > 0 || hasApp;
  return (
    <Setting
      id="factors"
      title="Passkeys and second factor"
      about="With a second factor, nobody can sign in with your password alone. Adding or removing one signs you out everywhere else."
    >
      <h3>Passkeys</h3>
      {passkeys.length > 0 && <PasskeyTable token={token} passkeys={passkeys} />}
      {canAddPasskeys ? (
        <p>
          <ButtonLink href={NEW_PASSKEY_PATH}>Add a passkey</ButtonLink>
        </p>
      ) : (
        <p class="faint">
          Browsers allow passkeys only on HTTPS or on this computer, and not if the address is an IP
          address.
        </p>
      )}
      <h3>Authenticator app</h3>
      <PostForm action={hasApp ? `${APP_PATH}/remove` : APP_PATH} token={token} class="setting-row">
        <span>You enter its code after your password.</span>{" "}
        <Button>{hasApp ? "Remove the app" : "Set up an authenticator app"}</Button>
      </PostForm>
      {isSetUp && (
        <>
          <h3>Recovery codes</h3>
          <PostForm action={RECOVERY_CODES_PATH} token={token} class="setting-row">
            <span>
              {recoveryCodes} of {RECOVERY_CODES} codes are unused.
            </span>{" "}
            <Button>Create new codes</Button>
          </PostForm>
        </>
      )}
      {hasPassword && passkeys.length > 0 && recoveryCodes > 0 && (
        <>
          <h3>Without a password</h3>
          <PostForm action={REMOVE_PASSWORD_PATH} token={token} class="setting-row">
            <span>You can sign in with a passkey only.</span> <Button>Remove the password</Button>
          </PostForm>
        </>
      )}
    </Setting>
  );
}

function PasskeyTable({ token, passkeys }: Pick<OwnFactors, "passkeys"> & { token: string }) {
  return (
    <Table
      caption="Your passkeys"
      rows={passkeys}
      columns={[
        { title: "Name", cell: ({ name }) => <bdi>{name}</bdi> },
        { title: "Added", cell: ({ createdAt }) => <Moment at={createdAt} /> },
        { title: "Last used", cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
      ]}
      actions={({ id, name }) => (
        <PostForm action={`${PASSKEYS_PATH}/remove`} token={token}>
          <input type="hidden" name="id" value={id} />
          <Button>
            Remove<span class="hidden-text"> the passkey {name}</span>
          </Button>
        </PostForm>
      )}
    />
  );
}

/** The page on which the browser creates a passkey. */
export function NewPasskeyPage({ visit, problem }: { visit: Visit; problem?: string }) {
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
}) {
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
export function RecoveryCodesPage({ visit, codes }: { visit: Visit; codes: readonly string[] }) {
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
