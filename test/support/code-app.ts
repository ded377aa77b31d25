import { codeOf, stepAt } from "../../src/sign-in/second-step/one-time-codes.ts";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** An app that shows one-time codes, on a phone whose clock is the test's. @param secret in base32 */
export function createCodeApp(secret: string, clock: () => number) {
  const bits = [...secret.replaceAll(/\s/g, "")]
    .map((character) => BASE32.indexOf(character).toString(2).padStart(5, "0"))
    .join("");
  const bytes = Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
  return {
    /** The code that the app shows now, or a number of steps later. */
    code: (steps = 0) => codeOf(bytes, stepAt(clock()) + steps),
  };
}
