import { SET_UP_PATH } from "../sign-in/paths.ts";

/**
 * Where the owner's account is made.
 * @param address of the server
 * @param token what proves that somebody has this link from the server itself
 */
export function setUpLink(address: string, token: string): string {
  return `${address}${SET_UP_PATH}?token=${token}`;
}
