/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Account, NewAccount } from "../../accounts/account.ts";
import { AppError } from "../../errors.ts";
import { clientAddress } from "../../http/requests/proxy.ts";
import { seeOther } from "../../http/responses.ts";
import { Button } from "../../pages/button.tsx";
import { EmailField, PostForm } from "../../pages/form.tsx";
import type { Child, Markup } from "../../pages/jsx-runtime.ts";
import { Layout, MessagePage, Problem } from "../../pages/layout.tsx";
import { type Awaitable, pageResponse } from "../../pages/page-response.tsx";
import { PasswordField, ProviderButtons } from "../forms.tsx";
import { JOIN_PATH, SET_UP_PATH, SIGN_IN_PATH, SIGN_UP_PATH, WELCOME_PATH } from "../paths.ts";
import type { Provider } from "../providers/provider.ts";
import type { SignInParts } from "../routes.tsx";

/** The page that creates an account: the owner's, an invited person's, or anyone's. */
function SignUpPage({
  title,
  action,
  token,
  email = "",
  fixedEmail = null,
  problem,
  fields,
  providers = [],
  parameters = {},
  passwords,
  children,
}: {
  title: string;
  action: string;
  token: string;
  email?: string;
  /** The account's address, whatever was typed. */
  fixedEmail?: string | null;
  problem?: string | undefined;
  fields?: Child;
  /** The providers that can create the account too, and the parameters for their paths. */
  providers?: readonly Provider[];
  parameters?: Record<string, string>;
  /** Whether the account gets a password; otherwise a provider is required. */
  passwords: boolean;
  children?: Child;
}) {
  return (
    <Layout title={title}>
      {children}
      {problem !== undefined && <Problem>{problem}</Problem>}
      {(passwords || providers.length === 0) && (
        <PostForm action={action} token={token}>
          {fields}
          {fixedEmail === null ? (
            <EmailField
              email={email}
              hint="You sign in with it; no mail is sent."
              autofocus={email === ""}
            />
          ) : (
            <>
              <input type="hidden" name="email" value={fixedEmail} autocomplete="username" />
              <p>
                For <strong>{fixedEmail}</strong>
              </p>
            </>
          )}
          {passwords && (
            <PasswordField isNew={true} autofocus={email !== "" || fixedEmail !== null} />
          )}
          <div class="actions">
            <Button kind="main">Create my account</Button>
          </div>
        </PostForm>
      )}
      <ProviderButtons providers={providers} parameters={parameters} />
    </Layout>
  );
}

/** The problem of a form that is shown again, and the address that was typed. */
interface Again {
  problem?: string;
  email?: string;
}

/** Creates the pages that ask for a new account. `token` protects the form of each. */
function createSignUpPages({ config: { passwords }, providers, signUp }: SignInParts) {
  /** For the owner of a new server. @param claim the secret of the set-up link */
  const setUpPage = (token: string, claim: string, again: Again = {}) => (
    <SignUpPage
      passwords={passwords}
      title="Welcome to ctxd"
      action={SET_UP_PATH}
      token={token}
      fields={<input type="hidden" name="token" value={claim} />}
      {...again}
    >
      <p>This server is new. Create the account of its owner. You can invite others later.</p>
    </SignUpPage>
  );

  /** For a person with an invitation. */
  const joinPage = async (token: string, secret: string, again: Again = {}) => {
    const invitation = await signUp.findInvitation(secret);
    if (!invitation) {
      return (
        <MessagePage
          title="This invitation is not valid"
          message="It was used, has expired or was revoked. Ask for a new one."
        />
      );
    }
    return (
      <SignUpPage
        passwords={passwords}
        title="You are invited"
        action={`${JOIN_PATH}/${secret}`}
        token={token}
        fixedEmail={invitation.email}
        providers={providers}
        parameters={{ invitation: secret }}
        {...again}
      >
        <p>
          Create an account on this ctxd server. No other account can read your memories. The people
          who run the server can read its files.
        </p>
      </SignUpPage>
    );
  };

  /** For anyone, where registration is open. */
  const signUpPage = (token: string, again: Again = {}) => (
    <SignUpPage
      passwords={passwords}
      title="Create an account"
      action={SIGN_UP_PATH}
      token={token}
      providers={providers}
      {...again}
    >
      <p>
        Do you have one? <a href={SIGN_IN_PATH}>Sign in</a>.
      </p>
    </SignUpPage>
  );

  /** For a visitor of a new server who may not set it up. */
  const ownerNeeded = () => (
    <MessagePage
      title="This server is new"
      message={
        signUp.allowsSetUp
          ? "To create the owner's account, open the link that the server printed when it started, or run ctxd dashboard on its machine."
          : "To create the owner's account, run ctxd user add EMAIL on its machine."
      }
    />
  );

  return { setUpPage, joinPage, signUpPage, ownerNeeded };
}

/** The routes that create accounts: set-up, invitation, sign-up. */
export function addSignUpPages(parts: SignInParts): void {
  const { config, pageGuard, pages, visitors, record, signUp } = parts;
  const { setUpPage, joinPage, signUpPage, ownerNeeded } = createSignUpPages(parts);

  const show = async (request: Request, render: (token: string) => Awaitable<Markup>) => {
    const { token, headers } = pageGuard.issueFormToken(request);
    return pageResponse(await render(token), { headers });
  };

  /** Creates an account from a form, signs its person in and redirects, or shows the form again. */
  const receive = async (
    request: Request,
    make: (wanted: NewAccount, form: URLSearchParams) => Promise<Account>,
    render: (token: string, form: URLSearchParams, again: Again) => Awaitable<Markup>,
    next = "/",
  ) => {
    const { form } = await pageGuard.receive(request, "visit");
    const email = form.get("email") ?? "";
    try {
      const account = await make({ email, password: form.get("password") ?? "" }, form);
      return seeOther(next, (await visitors.welcome(request, account.id)).setCookies);
    } catch (error) {
      const isAboutForm =
        error instanceof AppError && ["validation_failed", "conflict"].includes(error.code);
      if (!isAboutForm) throw error;
      const { token } = pageGuard.issueFormToken(request);
      const page = await render(token, form, { problem: error.message, email });
      return pageResponse(page, { status: error.status });
    }
  };

  pages.get(SET_UP_PATH, async (request) => {
    if (await signUp.isSetUp()) return seeOther(SIGN_IN_PATH);
    const claim = new URL(request.url).searchParams.get("token") ?? "";
    return signUp.allowsSetUp && (await signUp.mayClaim(claim))
      ? show(request, (token) => setUpPage(token, claim))
      : pageResponse(ownerNeeded(), { status: 403 });
  });
  pages.post(SET_UP_PATH, (request) =>
    receive(
      request,
      async (wanted, form) => {
        const account = await signUp.setUp(wanted, form.get("token"));
        record(request, "owner_set_up", { accountId: account.id });
        return account;
      },
      (token, form, again) => setUpPage(token, form.get("token") ?? "", again),
      WELCOME_PATH,
    ),
  );
  pages.get(`${JOIN_PATH}/:secret`, (request, secret) =>
    show(request, (token) => joinPage(token, secret)),
  );
  pages.post(`${JOIN_PATH}/:secret`, (request, secret) =>
    receive(
      request,
      async (wanted) => {
        const invitation = await signUp.findInvitation(secret);
        const account = await signUp.accept(secret, wanted);
        const facts = { accountId: account.id, subjectId: invitation?.id ?? null };
        record(request, "invitation_used", facts);
        record(request, "account_created", { accountId: account.id });
        return account;
      },
      (token, _, again) => joinPage(token, secret, again),
    ),
  );
  pages.get(SIGN_UP_PATH, async (request) =>
    signUp.isOpen && (await signUp.isSetUp()) ? show(request, signUpPage) : seeOther(SIGN_IN_PATH),
  );
  pages.post(SIGN_UP_PATH, (request) =>
    receive(
      request,
      async (wanted) => {
        const account = await signUp.signUp(wanted, clientAddress(request, config));
        record(request, "account_created", { accountId: account.id });
        return account;
      },
      (token, _, again) => signUpPage(token, again),
    ),
  );
}
