export const SIGN_IN_PATH = "/sign-in";
export const SIGN_OUT_PATH = "/sign-out";
/** Where an empty server is given its owner. */
export const SET_UP_PATH = "/setup";
export const SIGN_UP_PATH = "/sign-up";
/** Followed by an invitation's secret. */
export const JOIN_PATH = "/join";
/** Followed by the name of a provider. */
export const WITH_PATH = "/sign-in/with";
/** The page on which a person changes how they sign in. */
export const ACCOUNT_PATH = "/account";
