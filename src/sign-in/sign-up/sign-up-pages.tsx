/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button } from "../../pages/button.tsx";
import { EmailField, PostForm } from "../../pages/form.tsx";
import type { Child, Markup } from "../../pages/jsx-runtime.ts";
import { Layout, MessagePage, Problem } from "../../pages/layout.tsx";
import { PasswordField, ProviderButtons } from "../forms.tsx";
import { JOIN_PATH, SET_UP_PATH, SIGN_IN_PATH, SIGN_UP_PATH } from "../paths.ts";
import type { Provider } from "../providers/provider.ts";
import type { SignUp } from "./sign-up.ts";

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
}): Markup {
  return (
    <Layout title={title}>
      <h1>{title}</h1>
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
export interface Again {
  problem?: string;
  email?: string;
}

/** Creates the pages that ask for a new account. `token` protects the form of each. */
export function createSignUpPages({
  passwords,
  providers,
  signUp,
}: {
  /** Whether accounts may have passwords. */
  passwords: boolean;
  providers: readonly Provider[];
  signUp: Pick<SignUp, "findInvitation" | "allowsSetUp">;
}) {
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
      <p>
        This server is new. Create the account of its owner. It holds your memories. You can invite
        others, who have their own memories.
      </p>
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
