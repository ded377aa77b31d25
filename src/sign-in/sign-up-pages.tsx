/** @jsxRuntime automatic @jsxImportSource #pages */
import { MessagePage } from "../pages/layout.tsx";
import { JOIN_PATH, SET_UP_PATH, SIGN_IN_PATH, SIGN_UP_PATH } from "./paths.ts";
import type { Provider } from "./provider.ts";
import type { SignUp } from "./sign-up.ts";
import { SignUpPage } from "./sign-up-page.tsx";

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
      submit="Create my account"
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
        submit="Create my account"
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
      submit="Create my account"
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
