/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Markup } from "../pages/jsx-runtime.ts";
import { Layout, Problem } from "../pages/layout.tsx";
import { FORM_TOKEN } from "./form-token.ts";

export const SIGN_IN_PATH = "/sign-in";
export const SIGN_OUT_PATH = "/sign-out";

/** The page that asks for e-mail address and password. */
export function SignInPage({
  token,
  next,
  email = "",
  problem,
}: {
  /** See `formToken`. */
  token: string;
  /** Where to go on, a path of ours. */
  next: string | null;
  email?: string;
  problem?: string;
}): Markup {
  return (
    <Layout title="Sign in">
      <h1>Sign in</h1>
      {problem !== undefined && <Problem>{problem}</Problem>}
      <form method="post" action={SIGN_IN_PATH}>
        <input type="hidden" name={FORM_TOKEN} value={token} />
        {next !== null && <input type="hidden" name="next" value={next} />}
        <label>
          <span>E-mail address</span>
          <input
            type="email"
            name="email"
            value={email}
            autocomplete="username"
            required={true}
            maxlength={254}
            autofocus={email === ""}
          />
        </label>
        <label>
          <span>Password</span>
          <input
            type="password"
            name="password"
            autocomplete="current-password"
            required={true}
            maxlength={1024}
            autofocus={email !== ""}
          />
        </label>
        <div class="actions">
          <button type="submit" class="main">
            Sign in
          </button>
        </div>
      </form>
    </Layout>
  );
}
