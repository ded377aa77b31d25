/** @jsxRuntime automatic @jsxImportSource #pages */
import { seeOther } from "../../http/responses.ts";
import { PASSKEYS } from "../../pages/assets.ts";
import { formToken } from "../../pages/cookies.ts";
import { Layout, Problem } from "../../pages/layout.tsx";
import { pageResponse } from "../../pages/page-response.tsx";
import { CODE, CodeForm, CREDENTIAL, PasskeyForm } from "../forms.tsx";
import { SECOND_STEP_PATH, SIGN_IN_PATH } from "../paths.ts";
import type { SignInParts } from "../routes.tsx";
import { signInOver } from "../sessions/sessions.ts";
import { rateLimitedAnswer } from "../sign-in.ts";
import type { SecondFactor } from "./second-step.ts";

/** The path at which the page's script requests what a passkey must sign. */
const SECOND_STEP_OPTIONS = `${SECOND_STEP_PATH}/options`;

function SecondStepPage({
  token,
  hasPasskey,
  hasApp,
  problem,
}: {
  token: string;
  hasPasskey: boolean;
  /** Whether the person has an app that shows codes. */
  hasApp: boolean;
  problem?: string | undefined;
}) {
  return (
    <Layout title="Second step" assets={hasPasskey ? [PASSKEYS] : []}>
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

/** The routes of the second step of a sign-in. */
export function addSecondStepPage(parts: SignInParts): void {
  const { pageGuard, pages, factors, secondStep, webauthn, record } = parts;

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

  /** Checks an answer to the second step, and signs the person in if it is right. */
  const finish = async (request: Request, answer: SecondFactor): Promise<Response> => {
    const outcome = await secondStep.finish(request, answer);
    const { accountId } = outcome;
    if (outcome.status === "right") {
      if (outcome.byRecovery) record(request, "recovery_code_used", { accountId });
      record(request, "signed_in", { accountId });
      return seeOther(outcome.arrival.to, outcome.arrival.setCookies);
    }
    if (accountId !== null) record(request, "second_step_failed", { accountId });
    if (outcome.status === "expired") throw signInOver();
    const problem =
      "code" in answer ? "This code is wrong, or was used." : "This passkey does not fit.";
    return show(request, problem, 401);
  };

  pages.get(SECOND_STEP_PATH, (request) => show(request));
  pages.post(SECOND_STEP_PATH, async (request) => {
    const { form } = await pageGuard.receive(request, "pending");
    const credential = form.get(CREDENTIAL);
    const answer = credential !== null ? { credential } : { code: form.get(CODE) ?? "" };
    try {
      return await finish(request, answer);
    } catch (error) {
      const { message, status, headers } = rateLimitedAnswer(error);
      const accountId = (await secondStep.find(request))?.accountId ?? null;
      record(request, "second_step_failed", { accountId });
      return show(request, message, status, headers);
    }
  });
  pages.routes.post(SECOND_STEP_OPTIONS, async ({ request }) => {
    await pageGuard.receive(request, "pending");
    const pending = await secondStep.find(request);
    if (!pending) throw signInOver();
    return webauthn.requestOptions(pending.secret, "second-step", pending.accountId);
  });
}
