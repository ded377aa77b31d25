/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Accounts } from "../accounts/accounts.ts";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import type { RecordEvent } from "../http/record-event.ts";
import { readForm } from "../http/requests/form.ts";
import { clientAddress, createHostCheck } from "../http/requests/proxy.ts";
import { seeOther } from "../http/responses.ts";
import { Button, ButtonLink } from "../pages/button.tsx";
import { type Cookies, checkForm, FORM_TOKEN } from "../pages/cookies.ts";
import { Field } from "../pages/field.tsx";
import { EmailField, PostForm } from "../pages/form.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Layout } from "../pages/layout.tsx";
import { Problem } from "../pages/notice.tsx";
import { answerWithPage, pageResponse } from "../pages/page-response.tsx";
import { ProviderButtons } from "./forms.tsx";
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
import type { SecondStep } from "./second-step/second-step.ts";
import type { Sessions } from "./sessions/sessions.ts";
import type { Visitors } from "./sessions/visitor.ts";
import { asRateLimited, type SignIn } from "./sign-in.ts";
import type { SignUp } from "./sign-up/sign-up.ts";

/** The page that asks for e-mail address and password. */
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
  /** See `formToken`. */
  token: string;
  /** The path on this server to redirect to. */
  next: string | null;
  email?: string;
  problem?: string;
  providers: readonly Provider[];
  /** Whether registration is open. */
  isOpen: boolean;
  /** Whether browsers allow passkeys here. */
  hasPasskeys: boolean;
  /** Whether people can sign in with a password. */
  passwords: boolean;
}): Markup {
  const parameters: Record<string, string> = next === null ? {} : { next };
  const query = next === null ? "" : `?${new URLSearchParams(parameters)}`;
  return (
    <Layout title="Sign in">
      <h1>Sign in</h1>
      {problem !== undefined && <Problem>{problem}</Problem>}
      {passwords && (
        <PostForm action={SIGN_IN_PATH} token={token}>
          {next !== null && <input type="hidden" name="next" value={next} />}
          <EmailField email={email} autofocus={email === ""} />
          <Field
            label="Password"
            type="password"
            name="password"
            autocomplete="current-password"
            required={true}
            maxlength={1024}
            autofocus={email !== ""}
          />
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

const HIDDEN = { parse: "none", detail: { hide: true } } as const;

/** The routes to sign in and out. */
export function createSignInRoutes({
  config,
  cookies,
  accounts,
  sessions,
  visitors,
  record,
  signIn,
  secondStep,
  webauthn,
  signUp: { isSetUp, isOpen },
  providers,
}: {
  config: Pick<Config, "publicUrl" | "trustProxy" | "passwords">;
  cookies: Cookies;
  accounts: Pick<Accounts, "findByEmail">;
  sessions: Pick<Sessions, "end">;
  visitors: Visitors;
  record: RecordEvent;
  signIn: SignIn;
  secondStep: Pick<SecondStep, "arrive">;
  webauthn: Pick<WebAuthn, "isAvailable">;
  signUp: Pick<SignUp, "isSetUp" | "isOpen">;
  providers: readonly Provider[];
}) {
  const { publicUrl } = config;
  const checkHost = createHostCheck(config);
  const offers = {
    providers,
    isOpen,
    hasPasskeys: webauthn.isAvailable,
    passwords: config.passwords,
  };

  return new Elysia()
    .get(
      SIGN_IN_PATH,
      ({ request }) =>
        answerWithPage(async () => {
          checkHost(request);
          const next = localPath(new URL(request.url).searchParams.get("next"), publicUrl);
          if (await visitors.find(request)) return seeOther(next ?? "/");
          if (!(await isSetUp())) return seeOther(SET_UP_PATH);
          const { token, headers } = visitors.issueFormToken(request);
          const page = <SignInPage {...offers} token={token} next={next} />;
          return pageResponse(page, { headers });
        }),
      HIDDEN,
    )
    .post(
      SIGN_IN_PATH,
      ({ request }) =>
        answerWithPage(async () => {
          checkHost(request);
          const form = await readForm(request);
          const visit = cookies.read(request, "visit");
          checkForm(request, { token: form.get(FORM_TOKEN), cookie: visit, publicUrl });
          const next = localPath(form.get("next"), publicUrl);
          const email = form.get("email") ?? "";
          const password = form.get("password") ?? "";
          // Records an address only if an account has it: some people type their password here.
          const recordRefused = async (event: "sign_in_failed" | "sign_in_locked") =>
            record(request, event, { accountId: (await accounts.findByEmail(email))?.id ?? null });
          const again = (problem: string, status: number, headers = {}) => {
            const { token } = visitors.issueFormToken(request);
            const entered = { next, email, problem };
            const page = <SignInPage {...offers} {...entered} token={token} />;
            return pageResponse(page, { status, headers });
          };
          try {
            const address = clientAddress(request, config);
            const browser = await visitors.recognise(request, email);
            const account = await signIn.check({ email, password }, { address, browser });
            if (account === null) {
              await recordRefused("sign_in_failed");
              return again("E-mail address or password is wrong.", 401);
            }
            const accountId = account.id;
            const { passwordMark } = account;
            const { to, setCookies, isSignedIn } = await secondStep.arrive(
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
            const { message, status, headers } = asRateLimited(error);
            await recordRefused("sign_in_locked");
            return again(message, status, headers);
          }
        }),
      HIDDEN,
    )
    .post(
      SIGN_OUT_PATH,
      ({ request }) =>
        answerWithPage(async () => {
          checkHost(request);
          const form = await readForm(request);
          const session = cookies.read(request, "session");
          checkForm(request, { token: form.get(FORM_TOKEN), cookie: session, publicUrl });
          const person = await visitors.find(request);
          if (session !== null) await sessions.end(session);
          if (person) record(request, "signed_out", { accountId: person.account.id });
          const next = localPath(form.get("next"), publicUrl) ?? SIGN_IN_PATH;
          // Sessions of earlier versions did not remember their browser.
          const kept = person ? [await visitors.remember(request, person.account.id)] : [];
          return seeOther(next, [cookies.clear("session"), ...kept]);
        }),
      HIDDEN,
    );
}
