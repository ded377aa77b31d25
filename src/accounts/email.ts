import { AppError } from "../errors.ts";

/**
 * What a browser accepts in `<input type="email">`, so that the dashboard and the command line
 * agree: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address. Being ASCII, it
 * also keeps out look-alikes and control characters.
 */
const EMAIL =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** The longest address that SMTP can carry (RFC 5321, section 4.5.3.1.3, less the brackets). */
const MAX_LENGTH = 254;

/** The address of the owner that a local agent made. Nobody can be given it, or sign in with it. */
export const LOCAL_ADDRESS = "local@localhost";

/** The form in which an address is stored and compared: trimmed, lower case. Checks nothing. */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * The stored form of an address that a person typed.
 * @throws AppError `validation_failed` when it is not an e-mail address, or that of the local owner
 */
export function parseEmail(typed: string): string {
  const email = normaliseEmail(typed);
  if (email.length <= MAX_LENGTH && EMAIL.test(email) && email !== LOCAL_ADDRESS) return email;
  const message =
    email === LOCAL_ADDRESS
      ? `${LOCAL_ADDRESS} is the account of this machine's own agents: use another e-mail address.`
      : `This is not an e-mail address: use one like you@example.com, at most ${MAX_LENGTH} characters.`;
  throw new AppError("validation_failed", message, { details: [{ path: "/email", message }] });
}
