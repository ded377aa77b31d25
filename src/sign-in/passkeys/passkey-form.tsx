/** @jsxRuntime automatic @jsxImportSource #pages */
import type { ButtonKind } from "../../pages/button.tsx";
import type { Child, Markup } from "../../pages/jsx-runtime.ts";
import { FORM_TOKEN } from "../sessions/form-token.ts";

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
  /** See `formToken`. */
  token: string;
  /** The text of the button. */
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
