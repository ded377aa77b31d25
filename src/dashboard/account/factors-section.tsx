/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button, ButtonLink } from "../../pages/button.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Moment } from "../../pages/moment.tsx";
import { Table } from "../../pages/table.tsx";
import { PostForm } from "../../sign-in/form.tsx";
import type { PasskeyRecord } from "../../sign-in/passkeys.ts";
import { ACCOUNT_PATH } from "../../sign-in/paths.ts";
import { RECOVERY_CODES } from "../../sign-in/recovery-codes.ts";
import { Setting } from "../admin/setting.tsx";

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
  /** The number of unused recovery codes. */
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
  /** See `formToken`. */
  token: string;
  hasPassword: boolean;
}): Markup {
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
      {hasApp ? (
        <PostForm action={`${APP_PATH}/remove`} token={token} class="setting-row">
          <span>You enter its code after your password.</span> <Button>Remove the app</Button>
        </PostForm>
      ) : (
        <PostForm action={APP_PATH} token={token} class="setting-row">
          <span>You enter its code after your password.</span>{" "}
          <Button>Set up an authenticator app</Button>
        </PostForm>
      )}
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
        { title: "Name", isHeader: true, cell: ({ name }) => <bdi>{name}</bdi> },
        { title: "Added", cell: ({ createdAt }) => <Moment at={createdAt} /> },
        { title: "Last used", cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
        {
          title: "Actions",
          isActions: true,
          cell: ({ id, name }) => (
            <PostForm action={`${PASSKEYS_PATH}/remove`} token={token}>
              <input type="hidden" name="id" value={id} />
              <Button>
                Remove<span class="hidden-text"> the passkey {name}</span>
              </Button>
            </PostForm>
          ),
        },
      ]}
    />
  );
}
