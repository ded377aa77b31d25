/** @jsxRuntime automatic @jsxImportSource #pages */
import { PASSWORD_LENGTH } from "../accounts/passwords.ts";
import { Button, type ButtonKind, ButtonLink } from "../pages/button.tsx";
import { FORM_TOKEN } from "../pages/cookies.ts";
import { Field } from "../pages/field.tsx";
import { PostForm } from "../pages/form.tsx";
import { type Child, Fragment } from "../pages/jsx-runtime.ts";
import { WITH_PATH } from "./paths.ts";
import type { Provider } from "./providers/provider.ts";

/** The field for the password of an account, or for a new one. */
export function PasswordField({
  label = "Password",
  name = "password",
  isNew = false,
  autofocus = false,
}: {
  label?: string;
  name?: string;
  isNew?: boolean;
  autofocus?: boolean;
}) {
  const { min, max } = PASSWORD_LENGTH;
  return (
    <Field
      label={label}
      name={name}
      type="password"
      autocomplete={isNew ? "new-password" : "current-password"}
      required={true}
      {...(isNew && { minlength: min, hint: `${min} characters or more` })}
      maxlength={max}
      autofocus={autofocus}
    />
  );
}

/** The field for a code of an app, or for a recovery code. */
export const CODE = "code";

/** Asks for a code of the person's app, or for a recovery code instead. */
export function CodeForm({
  action,
  token,
  field = CODE,
  hasApp,
  hint = hasApp
    ? "The six digits that your app shows, or one of your recovery codes."
    : "One of your recovery codes. Each works once.",
  submit,
  autofocus = false,
  isMain = hasApp,
  children,
}: {
  action: string;
  token: string;
  /** The name of the field, for forms with two codes. */
  field?: string;
  /** Whether the person has an app that shows codes. */
  hasApp: boolean;
  hint?: string;
  submit: string;
  autofocus?: boolean;
  /** Whether this is the page's main form. */
  isMain?: boolean;
  children?: Child;
}) {
  return (
    <PostForm action={action} token={token}>
      {children}
      <Field
        label={hasApp ? "Code" : "Recovery code"}
        name={field}
        hint={hint}
        autocomplete={hasApp ? "one-time-code" : "off"}
        required={true}
        maxlength={40}
        autofocus={autofocus}
      />
      <div class="actions">
        <Button kind={isMain ? "main" : "plain"}>{submit}</Button>
      </div>
    </PostForm>
  );
}

/** The field in which the page's script sends the passkey's answer, in JSON. */
export const CREDENTIAL = "credential";

/** A form that a passkey fills in. The page needs the script `PASSKEYS`. */
export function PasskeyForm({
  does,
  field = CREDENTIAL,
  action,
  options,
  token,
  label,
  kind = "plain",
  children,
}: {
  /** Whether a passkey is created, or an existing one signs. */
  does: "create" | "get";
  /** The name of the field, for forms with two credentials. */
  field?: string;
  action: string;
  /** The path at which the script requests the options. */
  options: string;
  token: string;
  label: string;
  kind?: ButtonKind;
  children?: Child;
}) {
  return (
    <form method="post" action={action} class="passkey" data-passkey={does} data-options={options}>
      <input type="hidden" name={FORM_TOKEN} value={token} />
      <input type="hidden" name={field} value="" data-credential={true} />
      {children}
      <p class="problem" role="alert" data-problem={true} hidden={true} />
      <p class="quiet" data-unknown={true}>
        A passkey needs JavaScript, and a browser that knows passkeys.
      </p>
      <div class="actions">
        <button type="submit" class={kind} hidden={true}>
          {label}
        </button>
      </div>
    </form>
  );
}

/** The buttons of the providers, below the form for passwords. */
export function ProviderButtons({
  providers,
  parameters = {},
}: {
  providers: readonly Pick<Provider, "id" | "name">[];
  /** Parameters for the provider's path. */
  parameters?: Record<string, string>;
}) {
  if (providers.length === 0) return Fragment({});
  const query = new URLSearchParams(parameters).toString();
  return (
    <div class="providers">
      {providers.map(({ id, name }) => (
        <ButtonLink href={`${WITH_PATH}/${id}${query && `?${query}`}`}>
          Continue with {name}
        </ButtonLink>
      ))}
    </div>
  );
}
