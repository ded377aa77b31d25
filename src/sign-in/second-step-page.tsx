/** @jsxRuntime automatic @jsxImportSource #pages */
import { PASSKEYS } from "../pages/assets.ts";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Layout } from "../pages/layout.tsx";
import { Problem } from "../pages/notice.tsx";
import { CodeForm } from "./code-form.tsx";
import { PasskeyForm } from "./passkey-form.tsx";
import { SECOND_STEP_PATH, SIGN_IN_PATH } from "./paths.ts";

/** The path at which the page's script requests what a passkey must sign. */
export const SECOND_STEP_OPTIONS = `${SECOND_STEP_PATH}/options`;

/** The page that asks for the second factor. */
export function SecondStepPage({
  token,
  hasPasskey,
  hasApp,
  problem,
}: {
  /** See `formToken`. */
  token: string;
  hasPasskey: boolean;
  /** Whether the person has an app that shows codes. */
  hasApp: boolean;
  problem?: string | undefined;
}): Markup {
  return (
    <Layout title="Second step" assets={hasPasskey ? [PASSKEYS] : []}>
      <h1>Second step</h1>
      <p>Show that it is you, beside what you have just signed in with.</p>
      {problem !== undefined && <Problem>{problem}</Problem>}
      {hasPasskey && (
        <PasskeyForm
          does="get"
          action={SECOND_STEP_PATH}
          options={SECOND_STEP_OPTIONS}
          token={token}
          label="Use a passkey"
          kind={hasApp ? "plain" : "main"}
        />
      )}
      <CodeForm
        action={SECOND_STEP_PATH}
        token={token}
        hasApp={hasApp}
        submit="Use the code"
        autofocus={hasApp || !hasPasskey}
      />
      <p class="quiet">
        <a href={SIGN_IN_PATH}>Sign in as somebody else</a>
      </p>
    </Layout>
  );
}
