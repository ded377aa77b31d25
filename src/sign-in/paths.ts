export const SIGN_IN_PATH = "/sign-in";
export const SIGN_OUT_PATH = "/sign-out";
/** Where an empty server is given its owner. */
export const SET_UP_PATH = "/setup";
/** The first steps of who has just made the owner's account. */
export const WELCOME_PATH = "/welcome";
export const SIGN_UP_PATH = "/sign-up";
/** Followed by an invitation's secret. */
export const JOIN_PATH = "/join";
/** Followed by the name of a provider. */
export const WITH_PATH = "/sign-in/with";
/** Where a person who has signed in with a password shows the second factor. */
export const SECOND_STEP_PATH = "/sign-in/second-step";
/** Where a passkey signs in alone. */
export const PASSKEY_PATH = "/sign-in/passkey";
/** Where a person without a password signs in with a recovery code. */
export const RECOVERY_PATH = "/sign-in/recovery";
/** Where a person who is signed in proves again who they are. */
export const PROOF_PATH = "/proof";
/** The page on which a person changes how they sign in. */
export const ACCOUNT_PATH = "/account";
