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

/** The page on which somebody makes an account: the owner's, by invitation, or freely. */
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
  /** The address that the account gets whatever is typed. */
  fixedEmail?: string | null;
  problem?: string | undefined;
  /** More fields of the form. */
  fields?: Child;
  /** Through whom the account can be made as well, and what the way there should be told. */
  providers?: readonly Provider[];
  parameters?: Record<string, string>;
  /** Whether the account gets a password; else its person comes through a provider. */
  passwords: boolean;
  /** What the account is for. */
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
