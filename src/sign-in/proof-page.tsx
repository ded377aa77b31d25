/** @jsxRuntime automatic @jsxImportSource #pages */
import { PASSKEYS } from "../pages/assets.ts";
import { Button } from "../pages/button.tsx";
import { Field } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Layout } from "../pages/layout.tsx";
import { Problem } from "../pages/notice.tsx";
import { CodeForm } from "./code-form.tsx";
import { PostForm } from "./form.tsx";
import { FORM_TOKEN } from "./form-token.ts";
import { PasskeyForm } from "./passkey-form.tsx";
import { PROOF_PATH } from "./paths.ts";
import type { WaysToProve } from "./proof.ts";
import type { Provider } from "./provider.ts";
import { ProviderButtons } from "./provider-buttons.tsx";

/** Where the script of the page asks what a passkey should sign. */
export const PROOF_OPTIONS = `${PROOF_PATH}/options`;

/** Fields of the page's forms, apart from those of the form that waits, which go with them. */
export const PROOF = {
  password: "proof_password",
  code: "proof_code",
  credential: "proof_credential",
  /** Where to go on, a path of ours. */
  to: "proof_to",
  /** Whether a form waits there, whose fields these are too. */
  isForm: "proof_form",
} as const;

/** Where a person goes on after a proof. */
export interface Waiting {
  readonly to: string;
  /** The form that was sent there; null where a page was asked for. */
  readonly form: URLSearchParams | null;
}

/** The page that asks who is signed in to prove again who they are. */
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
  // A form that waits is gone when the way leads through another site.
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

/** The form that waits, and where: to go along with the proof. */
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
