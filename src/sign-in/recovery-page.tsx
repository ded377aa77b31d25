/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Markup } from "../pages/jsx-runtime.ts";
import { Layout } from "../pages/layout.tsx";
import { Problem } from "../pages/notice.tsx";
import { CodeForm } from "./code-form.tsx";
import { EmailField } from "./email-field.tsx";
import { RECOVERY_PATH, SIGN_IN_PATH } from "./paths.ts";

/** The page for people who have no password and have lost their passkey. */
export function RecoveryPage({
  token,
  email = "",
  problem,
}: {
  /** See `formToken`. */
  token: string;
  email?: string;
  problem?: string;
}): Markup {
  return (
    <Layout title="Use a recovery code">
      <h1>Use a recovery code</h1>
      <p>
        This is for accounts without a password. If yours has a password or a provider,{" "}
        <a href={SIGN_IN_PATH}>sign in</a> first: the recovery code is asked for after that.
      </p>
      {problem !== undefined && <Problem>{problem}</Problem>}
      <CodeForm action={RECOVERY_PATH} token={token} hasApp={false} submit="Sign in">
        <EmailField email={email} />
      </CodeForm>
    </Layout>
  );
}
