/** @jsxRuntime automatic @jsxImportSource #pages */
import { PASSWORD_LENGTH } from "../../accounts/password.ts";
import { Field } from "../../pages/field.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";

/** The field for a new password. */
export function NewPasswordField({
  label,
  name,
  autofocus = false,
}: {
  label: string;
  name: string;
  autofocus?: boolean;
}): Markup {
  return (
    <Field
      label={label}
      name={name}
      type="password"
      hint={`${PASSWORD_LENGTH.min} characters or more`}
      autocomplete="new-password"
      required={true}
      minlength={PASSWORD_LENGTH.min}
      maxlength={PASSWORD_LENGTH.max}
      autofocus={autofocus}
    />
  );
}
