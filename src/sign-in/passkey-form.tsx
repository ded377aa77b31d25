/** @jsxRuntime automatic @jsxImportSource #pages */
import type { ButtonKind } from "../pages/button.tsx";
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import { FORM_TOKEN } from "./form-token.ts";

/** The field in which a page's script sends what a passkey has made, in JSON. */
export const CREDENTIAL = "credential";

/** A form that a passkey fills in, on a page with the script `PASSKEYS`. */
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
  /** Whether a passkey is made, or one that is there signs. */
  does: "create" | "get";
  /** Name of the field, where a form has another credential. */
  field?: string;
  action: string;
  /** Where the script asks what to have made or signed. */
  options: string;
  /** See `formToken`. */
  token: string;
  /** Of the button. */
  label: string;
  kind?: ButtonKind;
  /** Other fields. */
  children?: Child;
}): Markup {
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
