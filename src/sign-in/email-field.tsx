/** @jsxRuntime automatic @jsxImportSource #pages */
import { Field } from "../pages/field.tsx";
import type { Child, Markup } from "../pages/jsx-runtime.ts";

/** Where a person types the e-mail address of their account. */
export function EmailField({
  email,
  hint,
  autofocus = false,
}: {
  /** What was typed before. */
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
