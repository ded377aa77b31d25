import { SET_UP_PATH } from "../sign-in/paths.ts";

/**
 * The link of the page that creates the owner's account.
 * @param address the server's address
 * @param token proves that a visitor got the link from the server's operator
 */
export function setUpLink(address: string, token: string): string {
  return `${address}${SET_UP_PATH}?token=${token}`;
}
