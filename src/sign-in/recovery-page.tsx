/** @jsxRuntime automatic @jsxImportSource #pages */
import { Field } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Layout } from "../pages/layout.tsx";
import { Problem } from "../pages/notice.tsx";
import { CodeForm } from "./code-form.tsx";
import { RECOVERY_PATH, SIGN_IN_PATH } from "./paths.ts";

/** The page on which who has no password and has lost the passkey signs in. */
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
        For accounts that only passkeys sign in to. Who has a password or a provider{" "}
        <a href={SIGN_IN_PATH}>signs in</a> first, and is asked for the recovery code then.
      </p>
      {problem !== undefined && <Problem>{problem}</Problem>}
      <CodeForm action={RECOVERY_PATH} token={token} hasApp={false} submit="Sign in">
        <Field
          label="E-mail address"
          type="email"
          name="email"
          value={email}
          autocomplete="username"
          required={true}
          maxlength={254}
        />
      </CodeForm>
    </Layout>
  );
}
