/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import { FORM_TOKEN } from "./form-token.ts";

/** A form that changes something, with its token. */
export function PostForm({
  action,
  token,
  children,
  ...attributes
}: {
  action: string;
  /** See `formToken`. */
  token: string;
  class?: string;
  id?: string;
  /** For a form with files. */
  enctype?: "multipart/form-data";
  children?: Child;
}): Markup {
  return (
    <form method="post" action={action} {...attributes}>
      <input type="hidden" name={FORM_TOKEN} value={token} />
      {children}
    </form>
  );
}
