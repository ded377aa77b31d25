/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button } from "../pages/button.tsx";
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import { Layout } from "../pages/layout.tsx";
import { Problem } from "../pages/notice.tsx";
import { EmailField } from "./email-field.tsx";
import { PostForm } from "./form.tsx";
import { NewPasswordField } from "./new-password-field.tsx";
import type { Provider } from "./provider.ts";
import { ProviderButtons } from "./provider-buttons.tsx";

/** The page that creates an account: the owner's, an invited person's, or anyone's. */
export function SignUpPage({
  title,
  action,
  token,
  submit,
  email = "",
  fixedEmail = null,
  problem,
  fields,
  providers = [],
  parameters = {},
  passwords,
  children,
}: {
  title: string;
  action: string;
  /** See `formToken`. */
  token: string;
  /** Label of the button. */
  submit: string;
  email?: string;
  /** The account's address, whatever was typed. */
  fixedEmail?: string | null;
  problem?: string | undefined;
  /** More fields of the form. */
  fields?: Child;
  /** The providers that can create the account too, and the parameters for their paths. */
  providers?: readonly Provider[];
  parameters?: Record<string, string>;
  /** Whether the account gets a password; otherwise a provider is required. */
  passwords: boolean;
  /** Explains the account. */
  children?: Child;
}): Markup {
  return (
    <Layout title={title}>
      <h1>{title}</h1>
      {children}
      {problem !== undefined && <Problem>{problem}</Problem>}
      {(passwords || providers.length === 0) && (
        <PostForm action={action} token={token}>
          {fields}
          {fixedEmail === null ? (
            <EmailField
              email={email}
              hint="You sign in with it; no mail is sent."
              autofocus={email === ""}
            />
          ) : (
            <>
              <input type="hidden" name="email" value={fixedEmail} autocomplete="username" />
              <p>
                For <strong>{fixedEmail}</strong>
              </p>
            </>
          )}
          {passwords && (
            <NewPasswordField
              label="Password"
              name="password"
              autofocus={email !== "" || fixedEmail !== null}
            />
          )}
          <div class="actions">
            <Button kind="main">{submit}</Button>
          </div>
        </PostForm>
      )}
      <ProviderButtons providers={providers} parameters={parameters} />
    </Layout>
  );
}
