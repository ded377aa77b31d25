import { hashSecret, isSameSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";

/** The field of every form that proves it came from one of our pages. */
export const FORM_TOKEN = "form_token";

/**
 * The proof for the forms of one browser: made of its cookie, which no other site can read, and
 * which can't be told from the proof.
 */
export function formToken(cookie: string): string {
  return hashSecret(`form ${cookie}`);
}

/** The proof for a link that begins something for who has these forms. @param token of the forms */
export function linkProof(token: string): string {
  return hashSecret(`link ${token}`);
}

/**
 * Refuses a form that another site has sent, or sent through a person's browser (CSRF): by where
 * the browser says it comes from, and by its proof.
 * @param cookie the one that the form's proof was made of
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
