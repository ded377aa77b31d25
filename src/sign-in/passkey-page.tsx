/** @jsxRuntime automatic @jsxImportSource #pages */
import { PASSKEYS } from "../pages/assets.ts";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Layout } from "../pages/layout.tsx";
import { Problem } from "../pages/notice.tsx";
import { PasskeyForm } from "./passkey-form.tsx";
import { PASSKEY_PATH, RECOVERY_PATH, SIGN_IN_PATH } from "./paths.ts";

/** The path at which the page's script requests what a passkey must sign. */
export const PASSKEY_OPTIONS = `${PASSKEY_PATH}/options`;

/** The page to sign in with a passkey. It is separate because the page for passwords runs no script. */
export function PasskeyPage({
  token,
  next,
  problem,
}: {
  /** See `formToken`. */
  token: string;
  /** The path on this server to redirect to. */
  next: string | null;
  problem?: string | undefined;
}): Markup {
  return (
    <Layout title="Sign in with a passkey" assets={[PASSKEYS]}>
      <h1>Sign in with a passkey</h1>
      {problem !== undefined && <Problem>{problem}</Problem>}
      <PasskeyForm
        does="get"
        action={PASSKEY_PATH}
        options={PASSKEY_OPTIONS}
        token={token}
        label="Use a passkey"
        kind="main"
      >
        {next !== null && <input type="hidden" name="next" value={next} />}
      </PasskeyForm>
      <p class="quiet">
        <a href={SIGN_IN_PATH}>Sign in another way</a>
      </p>
      <p class="quiet">
        No password, and the passkey is lost? <a href={RECOVERY_PATH}>Use a recovery code</a>.
      </p>
    </Layout>
  );
}
