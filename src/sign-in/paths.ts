export const SIGN_IN_PATH = "/sign-in";
export const SIGN_OUT_PATH = "/sign-out";
/** The page that creates the owner of an empty server. */
export const SET_UP_PATH = "/setup";
/** The first steps of a new owner. */
export const WELCOME_PATH = "/welcome";
export const SIGN_UP_PATH = "/sign-up";
/** An invitation's secret follows. */
export const JOIN_PATH = "/join";
/** The id of a provider follows. */
export const WITH_PATH = "/sign-in/with";
/** The page for the second factor after a password. */
export const SECOND_STEP_PATH = "/sign-in/second-step";
/** The page to sign in with only a passkey. */
export const PASSKEY_PATH = "/sign-in/passkey";
/** The page on which a person without a password uses a recovery code. */
export const RECOVERY_PATH = "/sign-in/recovery";
/** The page on which a signed-in person proves again who they are. */
export const PROOF_PATH = "/proof";
/** The page on which a person changes how they sign in. */
export const ACCOUNT_PATH = "/account";

/**
 * The path on this server to redirect to after signing in; null if `next` is elsewhere. The address is
 * parsed as browsers do, which treat `//host` and `/\host` as other sites.
 */
export function localPath(next: string | null, publicUrl: string): string | null {
  if (!next?.startsWith("/")) return null;
  const url = URL.parse(next, publicUrl);
  if (url?.origin !== publicUrl) return null;
  const path = url.pathname + url.search;
  // `/.//host` is a path here, but browsers would treat it as another site.
  return path.startsWith("//") ? null : path;
}
