/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import type { RecordEvent } from "../../http/record-event.ts";
import { readForm } from "../../http/requests/form.ts";
import { createHostCheck } from "../../http/requests/proxy.ts";
import { seeOther } from "../../http/responses.ts";
import { PASSKEYS } from "../../pages/assets.ts";
import { type Cookies, checkForm, FORM_TOKEN, formToken } from "../../pages/cookies.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Layout } from "../../pages/layout.tsx";
import { Problem } from "../../pages/notice.tsx";
import { answerWithPage, pageResponse } from "../../pages/page-response.tsx";
import { CODE, CodeForm, CREDENTIAL, PasskeyForm } from "../forms.tsx";
import type { WebAuthn } from "../passkeys/webauthn.ts";
import { SECOND_STEP_PATH, SIGN_IN_PATH } from "../paths.ts";
import { asRateLimited } from "../sign-in.ts";
import type { Factors } from "./factors.ts";
import type { Answer, SecondStep } from "./second-step.ts";

/** The path at which the page's script requests what a passkey must sign. */
const SECOND_STEP_OPTIONS = `${SECOND_STEP_PATH}/options`;

/** The page that asks for the second factor. */
function SecondStepPage({
  token,
  hasPasskey,
  hasApp,
  problem,
}: {
  /** See `formToken`. */
  token: string;
  hasPasskey: boolean;
  /** Whether the person has an app that shows codes. */
  hasApp: boolean;
  problem?: string | undefined;
}): Markup {
  return (
    <Layout title="Second step" assets={hasPasskey ? [PASSKEYS] : []}>
      <h1>Second step</h1>
      <p>Show that it is you, beside what you have just signed in with.</p>
      {problem !== undefined && <Problem>{problem}</Problem>}
      {hasPasskey && (
        <PasskeyForm
          does="get"
          action={SECOND_STEP_PATH}
          options={SECOND_STEP_OPTIONS}
          token={token}
          label="Use a passkey"
          kind={hasApp ? "plain" : "main"}
        />
      )}
      <CodeForm
        action={SECOND_STEP_PATH}
        token={token}
        hasApp={hasApp}
        submit="Use the code"
        autofocus={hasApp || !hasPasskey}
      />
      <p class="quiet">
        <a href={SIGN_IN_PATH}>Sign in as somebody else</a>
      </p>
    </Layout>
  );
}

const HIDDEN = { parse: "none", detail: { hide: true } } as const;

/** The routes of the second step of a sign-in. */
export function createSecondStepRoutes({
  config,
  cookies,
  factors,
  secondStep,
  webauthn,
  record,
}: {
  config: Pick<Config, "publicUrl" | "trustProxy">;
  cookies: Cookies;
  factors: Factors;
  secondStep: SecondStep;
  webauthn: WebAuthn;
  record: RecordEvent;
}) {
  const { publicUrl } = config;
  const checkHost = createHostCheck(config);

  const show = async (
    request: Request,
    problem?: string,
    status = 200,
    headers = {},
  ): Promise<Response> => {
    const pending = await secondStep.find(request);
    if (pending === null) return seeOther(SIGN_IN_PATH);
    const { accountId, secret } = pending;
    const page = (
      <SecondStepPage
        token={formToken(secret)}
        hasPasskey={(await factors.passkeys.count(accountId)) > 0 && webauthn.isAvailable}
        hasApp={await factors.oneTimeCodes.isSetUp(accountId)}
        problem={problem}
      />
    );
    return pageResponse(page, { status, headers, scripts: true });
  };

  /** The page's form, sent by the browser that began the sign-in. */
  const receive = async (request: Request): Promise<URLSearchParams> => {
    checkHost(request);
    const form = await readForm(request);
    const cookie = cookies.read(request, "pending");
    checkForm(request, { token: form.get(FORM_TOKEN), cookie, publicUrl });
    return form;
  };

  /** Checks an answer to the second step, and signs the person in if it is right. */
  const finish = async (request: Request, answer: Answer): Promise<Response> => {
    const outcome = await secondStep.finish(request, answer);
    const { accountId } = outcome;
    if (outcome.is === "right") {
      if (outcome.byRecovery) record(request, "recovery_code_used", { accountId });
      record(request, "signed_in", { accountId });
      return seeOther(outcome.arrival.to, outcome.arrival.setCookies);
    }
    if (accountId !== null) record(request, "second_step_failed", { accountId });
    if (outcome.is === "expired") throw over();
    const problem =
      "code" in answer ? "This code is wrong, or was used." : "This passkey does not fit.";
    return show(request, problem, 401);
  };

  return new Elysia()
    .get(
      SECOND_STEP_PATH,
      ({ request }) =>
        answerWithPage(() => {
          checkHost(request);
          return show(request);
        }),
      HIDDEN,
    )
    .post(
      SECOND_STEP_OPTIONS,
      async ({ request }) => {
        await receive(request);
        const pending = await secondStep.find(request);
        if (pending) {
          return webauthn.requestOptions(pending.secret, "second-step", pending.accountId);
        }
        throw over();
      },
      HIDDEN,
    )
    .post(
      SECOND_STEP_PATH,
      ({ request }) =>
        answerWithPage(async () => {
          const form = await receive(request);
          const credential = form.get(CREDENTIAL);
          try {
            return await finish(
              request,
              credential !== null ? { credential } : { code: form.get(CODE) ?? "" },
            );
          } catch (error) {
            const { message, status, headers } = asRateLimited(error);
            const accountId = (await secondStep.find(request))?.accountId ?? null;
            record(request, "second_step_failed", { accountId });
            return show(request, message, status, headers);
          }
        }),
      HIDDEN,
    );
}

function over(): AppError {
  return new AppError("forbidden", "This sign-in is over: sign in again.");
}
