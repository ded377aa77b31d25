/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button, ButtonLink } from "../pages/button.tsx";
import { Field } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Layout } from "../pages/layout.tsx";
import { Problem } from "../pages/notice.tsx";
import { EmailField } from "./email-field.tsx";
import { PostForm } from "./form.tsx";
import { PASSKEY_PATH, SIGN_IN_PATH, SIGN_UP_PATH } from "./paths.ts";
import type { Provider } from "./provider.ts";
import { ProviderButtons } from "./provider-buttons.tsx";

/** The page that asks for e-mail address and password. */
export function SignInPage({
  token,
  next,
  email = "",
  problem,
  providers,
  isOpen,
  hasPasskeys,
  passwords,
}: {
  /** See `formToken`. */
  token: string;
  /** The path on this server to redirect to. */
  next: string | null;
  email?: string;
  problem?: string;
  providers: readonly Provider[];
  /** Whether registration is open. */
  isOpen: boolean;
  /** Whether browsers allow passkeys here. */
  hasPasskeys: boolean;
  /** Whether people can sign in with a password. */
  passwords: boolean;
}): Markup {
  const parameters: Record<string, string> = next === null ? {} : { next };
  const query = next === null ? "" : `?${new URLSearchParams(parameters)}`;
  return (
    <Layout title="Sign in">
      <h1>Sign in</h1>
      {problem !== undefined && <Problem>{problem}</Problem>}
      {passwords && (
        <PostForm action={SIGN_IN_PATH} token={token}>
          {next !== null && <input type="hidden" name="next" value={next} />}
          <EmailField email={email} autofocus={email === ""} />
          <Field
            label="Password"
            type="password"
            name="password"
            autocomplete="current-password"
            required={true}
            maxlength={1024}
            autofocus={email !== ""}
          />
          <div class="actions">
            <Button kind="main">Sign in</Button>
          </div>
        </PostForm>
      )}
      {hasPasskeys && (
        <div class="providers">
          <ButtonLink href={`${PASSKEY_PATH}${query}`}>Sign in with a passkey</ButtonLink>
        </div>
      )}
      <ProviderButtons providers={providers} parameters={parameters} />
      {isOpen && (
        <p class="quiet">
          New here? <a href={SIGN_UP_PATH}>Create an account</a>.
        </p>
      )}
    </Layout>
  );
}
