/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button } from "../../pages/button.tsx";
import { Field } from "../../pages/field.tsx";
import type { Child, Markup } from "../../pages/jsx-runtime.ts";
import { PostForm } from "../form.tsx";

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
  children,
}: {
  action: string;
  /** See `formToken`. */
  token: string;
  /** The name of the field, for forms with two codes. */
  field?: string;
  /** Whether the person has an app that shows codes. */
  hasApp: boolean;
  hint?: string;
  submit: string;
  autofocus?: boolean;
  /** Other fields. */
  children?: Child;
}): Markup {
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
        <Button kind={hasApp ? "main" : "plain"}>{submit}</Button>
      </div>
    </PostForm>
  );
}
