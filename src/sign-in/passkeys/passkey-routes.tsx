/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Config } from "../../config/config.ts";
import type { RecordEvent } from "../../http/record-event.ts";
import { readForm } from "../../http/requests/form.ts";
import { createHostCheck } from "../../http/requests/proxy.ts";
import { seeOther } from "../../http/responses.ts";
import { PASSKEYS } from "../../pages/assets.ts";
import { type Cookies, checkForm, FORM_TOKEN } from "../../pages/cookies.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Layout } from "../../pages/layout.tsx";
import { Problem } from "../../pages/notice.tsx";
import { answerWithPage, pageResponse } from "../../pages/page-response.tsx";
import { CREDENTIAL, PasskeyForm } from "../forms.tsx";
import { localPath, PASSKEY_PATH, RECOVERY_PATH, SIGN_IN_PATH } from "../paths.ts";
import type { SecondStep } from "../second-step/second-step.ts";
import type { Visitors } from "../sessions/visitor.ts";
import type { WebAuthn } from "./webauthn.ts";

/** The path at which the page's script requests what a passkey must sign. */
const PASSKEY_OPTIONS = `${PASSKEY_PATH}/options`;

/** The page to sign in with a passkey. It is separate because the page for passwords runs no script. */
function PasskeyPage({
  token,
  next,
  problem,
}: {
  /** See `formToken`. */
  token: string;
  /** The path on this server to redirect to. */
  next: string | null;
  problem?: string | undefined;
}): Markup {
  return (
    <Layout title="Sign in with a passkey" assets={[PASSKEYS]}>
      <h1>Sign in with a passkey</h1>
      {problem !== undefined && <Problem>{problem}</Problem>}
      <PasskeyForm
        does="get"
        action={PASSKEY_PATH}
        options={PASSKEY_OPTIONS}
        token={token}
        label="Use a passkey"
        kind="main"
      >
        {next !== null && <input type="hidden" name="next" value={next} />}
      </PasskeyForm>
      <p class="quiet">
        <a href={SIGN_IN_PATH}>Sign in another way</a>
      </p>
      <p class="quiet">
        No password, and the passkey is lost? <a href={RECOVERY_PATH}>Use a recovery code</a>.
      </p>
    </Layout>
  );
}

const HIDDEN = { parse: "none", detail: { hide: true } } as const;

/** Signs people in with only a passkey. */
export function createPasskeyRoutes({
  config,
  cookies,
  visitors,
  secondStep,
  webauthn,
  record,
}: {
  config: Pick<Config, "publicUrl" | "trustProxy">;
  cookies: Cookies;
  visitors: Pick<Visitors, "find" | "issueFormToken">;
  secondStep: Pick<SecondStep, "completeWithPasskey">;
  webauthn: WebAuthn;
  record: RecordEvent;
}) {
  const { publicUrl } = config;
  const checkHost = createHostCheck(config);

  /** The submitted form, and the secret of its browser. */
  const receive = async (request: Request) => {
    checkHost(request);
    const form = await readForm(request);
    const visit = cookies.read(request, "visit");
    checkForm(request, { token: form.get(FORM_TOKEN), cookie: visit, publicUrl });
    return { form, browser: visit ?? "" };
  };

  const show = (request: Request, next: string | null, problem?: string, status = 200) => {
    const { token, headers } = visitors.issueFormToken(request);
    const page = <PasskeyPage token={token} next={next} problem={problem} />;
    return pageResponse(page, { status, headers, scripts: true });
  };

  return new Elysia()
    .get(
      PASSKEY_PATH,
      ({ request }) =>
        answerWithPage(async () => {
          checkHost(request);
          const next = localPath(new URL(request.url).searchParams.get("next"), publicUrl);
          return (await visitors.find(request)) ? seeOther(next ?? "/") : show(request, next);
        }),
      HIDDEN,
    )
    .post(
      PASSKEY_OPTIONS,
      async ({ request }) => {
        const { browser } = await receive(request);
        return webauthn.requestOptions(browser, "sign-in", null);
      },
      HIDDEN,
    )
    .post(
      PASSKEY_PATH,
      ({ request }) =>
        answerWithPage(async () => {
          const { form, browser } = await receive(request);
          const credential = form.get(CREDENTIAL) ?? "";
          const accountId = await webauthn.verify(browser, "sign-in", credential, null);
          const next = localPath(form.get("next"), publicUrl);
          if (accountId === null) {
            record(request, "sign_in_failed", { accountId });
            return show(request, next, "No account here has this passkey.", 401);
          }
          const { to, setCookies } = await secondStep.completeWithPasskey(request, {
            accountId,
            next,
          });
          record(request, "signed_in", { accountId, subject: "passkey" });
          return seeOther(to, setCookies);
        }),
      HIDDEN,
    );
}
