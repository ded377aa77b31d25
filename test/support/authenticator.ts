import type { Page } from "./browser.ts";
import { devToolsOf } from "./browser-pages.ts";

/** A device of a person, as the page's browser sees it. */
export type Authenticator = Awaited<ReturnType<typeof addAuthenticator>>;

/**
 * Gives a page's browser a device that makes passkeys and unlocks without asking (the WebAuthn domain
 * of Chromium's protocol).
 * @param verifies whether the device knows its user, by a finger or a PIN
 */
export async function addAuthenticator(page: Page, { verifies = true } = {}) {
  const session = await devToolsOf(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: verifies,
      isUserVerified: verifies,
      automaticPresenceSimulation: true,
    },
  });

  const credentials = async () =>
    (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials;

  return {
    /** The passkeys on it, with their private keys. */
    credentials,

    /** Puts a passkey on it, such as one that somebody has copied from another device. */
    add: (credential: Awaited<ReturnType<typeof credentials>>[number]) =>
      session.send("WebAuthn.addCredential", { authenticatorId, credential }),

    /** From now on its user can't unlock it, or can again. */
    setVerified: (isUserVerified: boolean) =>
      session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
  };
}
