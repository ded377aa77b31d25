/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Accounts } from "../accounts/accounts.ts";
import type { Config } from "../config/config.ts";
import type { Ephemeral } from "../db/ephemeral.ts";
import { AppError } from "../errors.ts";
import type { RecordEvent } from "../http/record-event.ts";
import { clientAddress } from "../http/requests/proxy.ts";
import { seeOther } from "../http/responses.ts";
import type { Log } from "../log.ts";
import { Button, ButtonLink } from "../pages/button.tsx";
import type { Cookies } from "../pages/cookies.ts";
import { EmailField, PostForm } from "../pages/form.tsx";
import { Layout, Problem } from "../pages/layout.tsx";
import type { PageGuard } from "../pages/routes.ts";
import { PasswordField, ProviderButtons } from "./forms.tsx";
import type { WebAuthn } from "./passkeys/webauthn.ts";
import {
  localPath,
  PASSKEY_PATH,
  SET_UP_PATH,
  SIGN_IN_PATH,
  SIGN_OUT_PATH,
  SIGN_UP_PATH,
} from "./paths.ts";
import type { Provider } from "./providers/provider.ts";
import type { Identities, ProviderSignIn } from "./providers/provider-sign-in.ts";
import type { Factors } from "./second-step/factors.ts";
import type { Proof } from "./second-step/proof.ts";
import type { SecondStep } from "./second-step/second-step.ts";
import type { Sessions } from "./sessions/sessions.ts";
import type { Visitors } from "./sessions/visitor.ts";
import { rateLimitedAnswer, type SignIn } from "./sign-in.ts";
import type { SignUp } from "./sign-up/sign-up.ts";

function SignInPage({
  token,
  next,
  email = "",
  problem,
  providers,
  isOpen,
  hasPasskeys,
  passwords,
}: {
  token: string;
  /** The path on this server to redirect to. */
  next: string | null;
  email?: string;
  problem?: string;
  providers: readonly Provider[];
  isOpen: boolean;
  /** Whether browsers allow passkeys here. */
  hasPasskeys: boolean;
  /** Whether people can sign in with a password. */
  passwords: boolean;
}) {
  const parameters: Record<string, string> = next === null ? {} : { next };
  const query = next === null ? "" : `?${new URLSearchParams(parameters)}`;
  return (
    <Layout title="Sign in">
      {problem !== undefined && <Problem>{problem}</Problem>}
      {passwords && (
        <PostForm action={SIGN_IN_PATH} token={token}>
          {next !== null && <input type="hidden" name="next" value={next} />}
          <EmailField email={email} autofocus={email === ""} />
          <PasswordField autofocus={email !== ""} />
          <div class="actions">
            <Button kind="main">Sign in</Button>
          </div>
        </PostForm>
      )}
      {hasPasskeys && (
        <div class="providers">
          <ButtonLink href={`${PASSKEY_PATH}${query}`}>Sign in with a passkey</ButtonLink>
        </div>
      )}
      <ProviderButtons providers={providers} parameters={parameters} />
      {isOpen && (
        <p class="quiet">
          New here? <a href={SIGN_UP_PATH}>Create an account</a>.
        </p>
      )}
    </Layout>
  );
}

/** The services that the routes of sign-in use. */
export interface SignInParts {
  config: Pick<Config, "publicUrl" | "trustProxy" | "passwords">;
  pageGuard: PageGuard;
  pages: PageGuard["pages"];
  cookies: Cookies;
  accounts: Accounts;
  identities: Identities;
  sessions: Sessions;
  visitors: Visitors;
  record: RecordEvent;
  signIn: SignIn;
  signUp: SignUp;
  providers: readonly Provider[];
  providerSignIn: ProviderSignIn;
  factors: Factors;
  secondStep: SecondStep;
  webauthn: WebAuthn;
  proof: Proof;
  ephemeral: Ephemeral;
  log: Log;
}

/** The routes to sign in and out. */
export function addSignInPages(parts: SignInParts): void {
  const {
    config,
    pageGuard,
    pages,
    cookies,
    accounts,
    sessions,
    visitors,
    record,
    signIn,
    secondStep,
    webauthn,
    signUp,
    providers,
  } = parts;
  const { publicUrl } = config;
  const { isSetUp, isOpen } = signUp;
  const offers = {
    providers,
    isOpen,
    hasPasskeys: webauthn.isAvailable,
    passwords: config.passwords,
  };

  pages.get(SIGN_IN_PATH, async (request) => {
    const next = localPath(new URL(request.url).searchParams.get("next"), publicUrl);
    if (await visitors.find(request)) return seeOther(next ?? "/");
    if (!(await isSetUp())) return seeOther(SET_UP_PATH);
    const render = (token: string) => <SignInPage {...offers} token={token} next={next} />;
    return pageGuard.formPage(request, render);
  });
  pages.post(SIGN_IN_PATH, async (request) => {
    const { form } = await pageGuard.receive(request, "visit");
    const next = localPath(form.get("next"), publicUrl);
    const email = form.get("email") ?? "";
    const password = form.get("password") ?? "";
    // Records an address only if an account has it: some people type their password here.
    const recordRefused = async (event: "sign_in_failed" | "sign_in_locked") =>
      record(request, event, { accountId: (await accounts.findByEmail(email))?.id ?? null });
    const again = (problem: string, status: number, headers = {}) => {
      const entered = { next, email, problem };
      const render = (token: string) => <SignInPage {...offers} {...entered} token={token} />;
      return pageGuard.formPage(request, render, { status, headers });
    };
    try {
      const address = clientAddress(request, config);
      const browser = await visitors.recognise(request, email);
      const account = await signIn.check({ email, password }, { address, browser });
      if (account === null) {
        await recordRefused("sign_in_failed");
        return again("E-mail address or password is wrong.", 401);
      }
      const { id: accountId, passwordMark } = account;
      const { to, setCookies, isSignedIn } = await secondStep.afterFirstStep(
        request,
        { accountId, next },
        { passwordMark },
      );
      if (isSignedIn) record(request, "signed_in", { accountId });
      return seeOther(to, setCookies);
    } catch (error) {
      if (error instanceof AppError && error.code === "forbidden") {
        await recordRefused("sign_in_failed");
        return again(error.message, error.status);
      }
      const { message, status, headers } = rateLimitedAnswer(error);
      await recordRefused("sign_in_locked");
      return again(message, status, headers);
    }
  });
  pages.post(SIGN_OUT_PATH, async (request) => {
    const { form, secret } = await pageGuard.receive(request, "session");
    const person = await visitors.find(request);
    await sessions.end(secret);
    if (person) record(request, "signed_out", { accountId: person.account.id });
    const next = localPath(form.get("next"), publicUrl) ?? SIGN_IN_PATH;
    // Sessions of earlier versions did not remember their browser.
    const kept = person ? [await visitors.remember(request, person.account.id)] : [];
    return seeOther(next, [cookies.clear("session"), ...kept]);
  });
}
