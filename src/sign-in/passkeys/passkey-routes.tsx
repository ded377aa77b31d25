/** @jsxRuntime automatic @jsxImportSource #pages */
import { seeOther } from "../../http/responses.ts";
import { PASSKEYS } from "../../pages/assets.ts";
import { Layout, Problem } from "../../pages/layout.tsx";
import { CREDENTIAL, PasskeyForm } from "../forms.tsx";
import { localPath, PASSKEY_PATH, RECOVERY_PATH, SIGN_IN_PATH } from "../paths.ts";
import type { SignInParts } from "../routes.tsx";

/** The path at which the page's script requests what a passkey must sign. */
const PASSKEY_OPTIONS = `${PASSKEY_PATH}/options`;

/** The page to sign in with a passkey. It is separate because the page for passwords runs no script. */
function PasskeyPage({
  token,
  next,
  problem,
}: {
  token: string;
  /** The path on this server to redirect to. */
  next: string | null;
  problem?: string | undefined;
}) {
  return (
    <Layout title="Sign in with a passkey" assets={[PASSKEYS]}>
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

/** Signs people in with only a passkey. */
export function addPasskeyPage(parts: SignInParts): void {
  const { config, pageGuard, pages, visitors, secondStep, webauthn, record } = parts;
  const { publicUrl } = config;

  const show = (request: Request, next: string | null, problem?: string, status = 200) =>
    pageGuard.formPage(
      request,
      (token) => <PasskeyPage token={token} next={next} problem={problem} />,
      { status, scripts: true },
    );

  pages.get(PASSKEY_PATH, async (request) => {
    const next = localPath(new URL(request.url).searchParams.get("next"), publicUrl);
    return (await visitors.find(request)) ? seeOther(next ?? "/") : show(request, next);
  });
  pages.post(PASSKEY_PATH, async (request) => {
    const { form, secret: browser } = await pageGuard.receive(request, "visit");
    const credential = form.get(CREDENTIAL) ?? "";
    const accountId = await webauthn.verify(browser, "sign-in", credential, null);
    const next = localPath(form.get("next"), publicUrl);
    if (accountId === null) {
      record(request, "sign_in_failed", { accountId });
      return show(request, next, "No account here has this passkey.", 401);
    }
    const { to, setCookies } = await secondStep.beginSession(request, { accountId, next });
    record(request, "signed_in", { accountId, subject: "passkey" });
    return seeOther(to, setCookies);
  });
  pages.routes.post(PASSKEY_OPTIONS, async ({ request }) => {
    const { secret: browser } = await pageGuard.receive(request, "visit");
    return webauthn.requestOptions(browser, "sign-in", null);
  });
}
