/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Accounts } from "../accounts/accounts.ts";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { clientAddress } from "../http/client-address.ts";
import { readForm } from "../http/form.ts";
import { createHostCheck } from "../http/public-host.ts";
import type { RecordEvent } from "../http/record-event.ts";
import { seeOther } from "../http/see-other.ts";
import { answerWithPage } from "../pages/error-page.tsx";
import { pageResponse } from "../pages/page-response.ts";
import type { Cookies } from "./cookies.ts";
import { checkForm, FORM_TOKEN } from "./form-token.ts";
import { localPath } from "./local-path.ts";
import { SET_UP_PATH, SIGN_IN_PATH, SIGN_OUT_PATH } from "./paths.ts";
import type { Provider } from "./provider.ts";
import { asRateLimited } from "./rate-limited.ts";
import type { SecondStep } from "./second-step.ts";
import type { Sessions } from "./sessions.ts";
import type { SignIn } from "./sign-in.ts";
import { SignInPage } from "./sign-in-page.tsx";
import type { SignUp } from "./sign-up.ts";
import type { Visitors } from "./visitor.ts";
import type { WebAuthn } from "./webauthn.ts";

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
