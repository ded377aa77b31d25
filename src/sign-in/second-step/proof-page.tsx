/** @jsxRuntime automatic @jsxImportSource #pages */
import { PASSKEYS } from "../../pages/assets.ts";
import { Button } from "../../pages/button.tsx";
import { Field } from "../../pages/field.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Layout } from "../../pages/layout.tsx";
import { Problem } from "../../pages/notice.tsx";
import { PostForm } from "../form.tsx";
import { PasskeyForm } from "../passkeys/passkey-form.tsx";
import { PROOF_PATH } from "../paths.ts";
import type { Provider } from "../providers/provider.ts";
import { ProviderButtons } from "../providers/provider-buttons.tsx";
import { FORM_TOKEN } from "../sessions/form-token.ts";
import { CodeForm } from "./code-form.tsx";
import type { WaysToProve } from "./proof.ts";

/** The path at which the page's script requests what a passkey must sign. */
export const PROOF_OPTIONS = `${PROOF_PATH}/options`;

/** Fields of the page's own forms. They also carry the fields of the interrupted form. */
export const PROOF = {
  password: "proof_password",
  code: "proof_code",
  credential: "proof_credential",
  /** The path on this server to redirect to. */
  to: "proof_to",
  /** Whether a form was interrupted, whose fields this form carries. */
  isForm: "proof_form",
} as const;

/** Where a person continues after the proof. */
export interface Waiting {
  readonly to: string;
  /** The form that was interrupted; null for a page. */
  readonly form: URLSearchParams | null;
}

/** The page that asks a signed-in person to prove again who they are. */
export function ProofPage({
  token,
  email,
  ways,
  providers,
  waiting,
  problem,
}: {
  /** See `formToken`. */
  token: string;
  email: string;
  ways: WaysToProve;
  providers: readonly Provider[];
  waiting: Waiting;
  problem?: string | undefined;
}): Markup {
  const form = { action: PROOF_PATH, token };
  const carried = <Carried {...waiting} />;
  const hasAny = ways.password || ways.passkey || ways.app || ways.recoveryCode || ways.provider;
  // An interrupted form would be lost on the way through another site.
  const next = waiting.form === null ? waiting.to : "/";
  return (
    <Layout title="Is it you?" assets={ways.passkey ? [PASSKEYS] : []}>
      <h1>Is it you?</h1>
      <p>
        You are signed in as <strong>{email}</strong>. What comes next needs a proof of that, which
        then holds for ten minutes.
      </p>
      {problem !== undefined && <Problem>{problem}</Problem>}
      {ways.passkey && (
        <PasskeyForm
          {...form}
          does="get"
          field={PROOF.credential}
          options={PROOF_OPTIONS}
          label="Use a passkey"
          kind={ways.app ? "plain" : "main"}
        >
          {carried}
        </PasskeyForm>
      )}
      {(ways.app || ways.recoveryCode) && (
        <CodeForm
          {...form}
          field={PROOF.code}
          hasApp={ways.app}
          submit="Use the code"
          autofocus={ways.app}
        >
          {carried}
        </CodeForm>
      )}
      {ways.password && (
        <PostForm {...form}>
          {carried}
          <input type="hidden" name="username" autocomplete="username" value={email} />
          <Field
            label="Password"
            name={PROOF.password}
            type="password"
            autocomplete="current-password"
            required={true}
            maxlength={1024}
            autofocus={true}
          />
          <div class="actions">
            <Button kind="main">Go on</Button>
          </div>
        </PostForm>
      )}
      {ways.provider && <ProviderButtons providers={providers} parameters={{ next }} />}
      {!hasAny && <p>Sign out and in again: that is a proof as well.</p>}
      <p class="quiet">
        <a href="/">Cancel</a>
      </p>
    </Layout>
  );
}

/** The interrupted form and its path, as fields. */
function Carried({ to, form }: Waiting): Markup {
  const own: readonly string[] = [FORM_TOKEN, ...Object.values(PROOF)];
  const fields = [...(form ?? [])].filter(([name]) => !own.includes(name));
  return (
    <>
      <input type="hidden" name={PROOF.to} value={to} />
      {form !== null && <input type="hidden" name={PROOF.isForm} value="true" />}
      {fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
    </>
  );
}
