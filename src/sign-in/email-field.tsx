/** @jsxRuntime automatic @jsxImportSource #pages */
import { Field } from "../pages/field.tsx";
import type { Child, Markup } from "../pages/jsx-runtime.ts";

/** The field for the e-mail address of an account. */
export function EmailField({
  email,
  hint,
  autofocus = false,
}: {
  /** The address that was typed before. */
  email: string;
  hint?: Child;
  autofocus?: boolean;
}): Markup {
  return (
    <Field
      label="E-mail address"
      type="email"
      name="email"
      value={email}
      hint={hint}
      autocomplete="username"
      required={true}
      maxlength={254}
      autofocus={autofocus}
    />
  );
}
