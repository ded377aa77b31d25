/** @jsxRuntime automatic @jsxImportSource #pages */

import { AppError } from "../../errors.ts";
import { readForm } from "../../http/requests/form.ts";
import { clientAddress } from "../../http/requests/proxy.ts";
import { againWithForm, seeOther } from "../../http/responses.ts";
import { PASSKEYS } from "../../pages/assets.ts";
import { Button } from "../../pages/button.tsx";
import { checkForm, FORM_TOKEN } from "../../pages/cookies.ts";
import { PostForm } from "../../pages/form.tsx";
import { Layout, Problem } from "../../pages/layout.tsx";
import { pageResponse } from "../../pages/page-response.tsx";
import { CodeForm, PasskeyForm, PasswordField, ProviderButtons } from "../forms.tsx";
import { localPath, PROOF_PATH, SIGN_IN_PATH } from "../paths.ts";
import type { Provider } from "../providers/provider.ts";
import type { SignInParts } from "../routes.tsx";
import type { SignedIn } from "../sessions/visitor.ts";
import { rateLimitedAnswer } from "../sign-in.ts";
import type { WaysToProve } from "./proof.ts";

/** The path at which the page's script requests what a passkey must sign. */
const PROOF_OPTIONS = `${PROOF_PATH}/options`;

/** Fields of the page's own forms. They also carry the fields of the interrupted form. */
const PROOF = {
  password: "proof_password",
  code: "proof_code",
  credential: "proof_credential",
  /** The path on this server to redirect to. */
  to: "proof_to",
  /** Whether a form was interrupted, whose fields this form carries. */
  isForm: "proof_form",
} as const;

/** Where a person continues after the proof. */
interface Waiting {
  readonly to: string;
  /** The form that was interrupted; null for a page. */
  readonly form: URLSearchParams | null;
}

/** The page that asks a signed-in person to prove again who they are. */
function ProofPage({
  token,
  email,
  ways,
  providers,
  waiting,
  problem,
}: {
  token: string;
  email: string;
  ways: WaysToProve;
  providers: readonly Provider[];
  waiting: Waiting;
  problem?: string | undefined;
}) {
  const form = { action: PROOF_PATH, token };
  const carried = <Carried {...waiting} />;
  const hasAny = ways.password || ways.passkey || ways.app || ways.recoveryCode || ways.provider;
  // An interrupted form would be lost on the way through another site.
  const next = waiting.form === null ? waiting.to : "/";
  return (
    <Layout title="Is it you?" assets={ways.passkey ? [PASSKEYS] : []}>
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
          <PasswordField name={PROOF.password} autofocus={true} />
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
function Carried({ to, form }: Waiting) {
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

/** Answers with a page that asks for a proof. The page or form that needs it follows. */
export type AskForProof = (person: SignedIn, waiting: Waiting) => Promise<Response>;

export function createAskForProof({ proof, providers }: Pick<SignInParts, "proof" | "providers">) {
  return async (
    { account: { id, email }, token }: SignedIn,
    waiting: Waiting,
    problem?: string,
    answer: { status: number; headers?: Record<string, string> } = { status: 403 },
  ): Promise<Response> => {
    const ways = await proof.waysOf(id);
    const page = (
      <ProofPage
        token={token}
        email={email}
        ways={ways}
        providers={providers}
        waiting={waiting}
        problem={problem}
      />
    );
    return pageResponse(page, { ...answer, scripts: true });
  };
}

/** The page on which a signed-in person proves again who they are. */
export function addProofPage(parts: SignInParts): void {
  const { config, pageGuard, pages, visitors, proof, providers, webauthn, record } = parts;
  const { publicUrl } = config;
  const ask = createAskForProof({ proof, providers });

  /** The form, and the person who is signed in; null without one. */
  const receive = async (request: Request) => {
    pageGuard.checkHost(request);
    const form = await readForm(request);
    const person = await visitors.find(request);
    if (person === null) return null;
    checkForm(request, { token: form.get(FORM_TOKEN), cookie: person.session, publicUrl });
    return { person, form };
  };

  pages.get(PROOF_PATH, async (request) => {
    const person = await visitors.find(request);
    const to = localPath(new URL(request.url).searchParams.get("next"), publicUrl) ?? "/";
    if (person === null) return seeOther(`${SIGN_IN_PATH}?${new URLSearchParams({ next: to })}`);
    if (await proof.isFresh(person)) return seeOther(to);
    return ask(person, { to, form: null }, undefined, { status: 200 });
  });
  pages.post(PROOF_PATH, async (request) => {
    const received = await receive(request);
    if (received === null) return seeOther(SIGN_IN_PATH);
    const { person, form } = received;
    const to = localPath(form.get(PROOF.to), publicUrl) ?? "/";
    const waiting: Waiting = { to, form: form.has(PROOF.isForm) ? form : null };
    const refuse = (problem: string, answer: Parameters<typeof ask>[3]) => {
      record(request, "proof_failed", { accountId: person.account.id });
      return ask(person, waiting, problem, answer);
    };
    try {
      const isRight = await proof.check(person, answerOf(form), clientAddress(request, config));
      if (isRight) return waiting.form === null ? seeOther(to) : againWithForm(to);
    } catch (error) {
      const { message, ...answer } = rateLimitedAnswer(error);
      return refuse(message, answer);
    }
    return refuse("The password or code is wrong. Try again.", { status: 401 });
  });
  pages.routes.post(PROOF_OPTIONS, async ({ request }) => {
    const received = await receive(request);
    if (received === null) throw new AppError("unauthorized", "You are no longer signed in.");
    const { session, account } = received.person;
    return webauthn.requestOptions(session, "proof", account.id);
  });
}

/** The page has a form for each kind of proof. */
function answerOf(form: URLSearchParams) {
  const credential = form.get(PROOF.credential);
  const code = form.get(PROOF.code);
  if (credential !== null) return { credential };
  return code !== null ? { code } : { password: form.get(PROOF.password) ?? "" };
}
