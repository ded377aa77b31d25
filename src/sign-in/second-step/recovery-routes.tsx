/** @jsxRuntime automatic @jsxImportSource #pages */
import { clientAddress } from "../../http/requests/proxy.ts";
import { seeOther } from "../../http/responses.ts";
import { EmailField } from "../../pages/form.tsx";
import { Layout, Problem } from "../../pages/layout.tsx";
import { CODE, CodeForm } from "../forms.tsx";
import { ACCOUNT_PATH, RECOVERY_PATH, SIGN_IN_PATH } from "../paths.ts";
import type { SignInParts } from "../routes.tsx";
import { tooMany } from "../sign-in.ts";

/** The page for people who have no password and have lost their passkey. */
function RecoveryPage({
  token,
  email = "",
  problem,
}: {
  token: string;
  email?: string;
  problem?: string;
}) {
  return (
    <Layout title="Use a recovery code">
      <p>
        This is for accounts without a password. If yours has a password or a provider,{" "}
        <a href={SIGN_IN_PATH}>sign in</a> first: the recovery code is asked for after that.
      </p>
      {problem !== undefined && <Problem>{problem}</Problem>}
      <CodeForm action={RECOVERY_PATH} token={token} hasApp={false} isMain={true} submit="Sign in">
        <EmailField email={email} />
      </CodeForm>
    </Layout>
  );
}

const QUARTER = 15 * 60_000;

/**
 * Signs people in with a recovery code if their account has only passkeys. With a password or a
 * provider, a code alone is not enough. No answer reveals the reason.
 */
export function addRecoveryPage(parts: SignInParts): void {
  const {
    config,
    pageGuard,
    pages,
    accounts,
    identities,
    factors: { recoveryCodes },
    secondStep,
    ephemeral,
    record,
  } = parts;
  // The tries per account are not limited: 80 random bits can't be guessed, and strangers could use the tries up.
  const byAddress = ephemeral.limit("recovery", { tries: 10, period: QUARTER });

  const hasFirstFactor = async (accountId: string) =>
    (config.passwords && (await accounts.hasPassword(accountId))) ||
    (await identities.issuers(accountId)).length > 0;

  pages.get(RECOVERY_PATH, (request) =>
    pageGuard.formPage(request, (token) => <RecoveryPage token={token} />),
  );
  pages.post(RECOVERY_PATH, async (request) => {
    const { form } = await pageGuard.receive(request, "visit");
    const address = clientAddress(request, config);
    const wait = await byAddress.take(address);
    if (wait !== null) throw tooMany(wait);
    const email = form.get("email") ?? "";
    const account = await accounts.findByEmail(email);
    const isAllowed = account !== null && !(await hasFirstFactor(account.id));
    if (!isAllowed || !(await recoveryCodes.use(account.id, form.get(CODE) ?? ""))) {
      record(request, "sign_in_failed", { accountId: account?.id ?? null });
      const again = { email, problem: "E-mail address or recovery code is wrong." };
      const render = (token: string) => <RecoveryPage token={token} {...again} />;
      return pageGuard.formPage(request, render, { status: 401 });
    }
    await byAddress.giveBack(address);
    const accountId = account.id;
    const beginning = { accountId, next: ACCOUNT_PATH };
    const { to, setCookies } = await secondStep.beginSession(request, beginning);
    record(request, "recovery_code_used", { accountId });
    record(request, "signed_in", { accountId });
    return seeOther(to, setCookies);
  });
}
