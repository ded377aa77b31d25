/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Config } from "../config/config.ts";
import { readForm } from "../http/form.ts";
import { createHostCheck } from "../http/public-host.ts";
import type { RecordEvent } from "../http/record-event.ts";
import { seeOther } from "../http/see-other.ts";
import { answerWithPage } from "../pages/error-page.tsx";
import { pageResponse } from "../pages/page-response.ts";
import type { Cookies } from "./cookies.ts";
import { checkForm, FORM_TOKEN } from "./form-token.ts";
import { localPath } from "./local-path.ts";
import { CREDENTIAL } from "./passkey-form.tsx";
import { PASSKEY_OPTIONS, PasskeyPage } from "./passkey-page.tsx";
import { PASSKEY_PATH } from "./paths.ts";
import type { SecondStep } from "./second-step.ts";
import type { Visitors } from "./visitor.ts";
import type { WebAuthn } from "./webauthn.ts";

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
