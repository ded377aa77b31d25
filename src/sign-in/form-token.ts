import { hashSecret, isSameSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";

/** The field of every form that proves that the form came from our pages. */
export const FORM_TOKEN = "form_token";

/**
 * The token for the forms of one browser. It is computed from a cookie that no other site can read, and
 * does not reveal the cookie.
 */
export function formToken(cookie: string): string {
  return hashSecret(`form ${cookie}`);
}

/**
 * The token for a link that begins an action of the person with these forms.
 * @param token of the forms
 */
export function linkProof(token: string): string {
  return hashSecret(`link ${token}`);
}

/**
 * Refuses a form that another site has sent, also through a person's browser (CSRF). It checks the
 * origin that the browser reports, and the form's token.
 * @param cookie the cookie that the form's token was computed from
 * @throws AppError `forbidden`
 */
export function checkForm(
  request: Request,
  { token, cookie, publicUrl }: { token: string | null; cookie: string | null; publicUrl: string },
): void {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  const isOurs =
    (origin === null || origin === publicUrl) && (site === null || site === "same-origin");
  if (isOurs && token && cookie && isSameSecret(token, formToken(cookie))) return;
  throw new AppError(
    "forbidden",
    "This form has expired or did not come from this server. Go back, reload the page and try again.",
  );
}
