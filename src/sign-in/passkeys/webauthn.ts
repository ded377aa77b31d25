import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Account } from "../../accounts/account.ts";
import { AppError } from "../../errors.ts";
import { parsed } from "../../text/parse-json.ts";
import type { PasskeyChallenges, PasskeyPurpose, Passkeys } from "./passkeys.ts";

/** EdDSA, ES256 and RS256, by their numbers in COSE. */
const ALGORITHMS = [-8, -7, -257];

const Text = Type.String({ maxLength: 16_384 });
const Common = {
  id: Type.String({ minLength: 1, maxLength: 2_048, pattern: "^[A-Za-z0-9_-]+$" }),
  rawId: Text,
  type: Type.Literal("public-key"),
  clientExtensionResults: Type.Object({}),
};
const Registration = Type.Object({
  ...Common,
  response: Type.Object({
    clientDataJSON: Text,
    attestationObject: Text,
    transports: Type.Optional(
      Type.Array(Type.String({ pattern: "^[a-z-]{1,20}$" }), { maxItems: 10 }),
    ),
  }),
});
const Assertion = Type.Object({
  ...Common,
  response: Type.Object({
    clientDataJSON: Text,
    authenticatorData: Text,
    signature: Text,
    userHandle: Type.Optional(Text),
  }),
});

export type WebAuthn = ReturnType<typeof createWebAuthn>;

/**
 * Creates and checks passkeys (WebAuthn Level 3). Each passkey can sign in alone: the device identifies
 * its user by a fingerprint, a face or a PIN. `browser` is always the secret of the browser's cookie.
 */
export function createWebAuthn({
  publicUrl,
  passkeys,
  passkeyChallenges: challenges,
}: {
  publicUrl: string;
  passkeys: Passkeys;
  passkeyChallenges: PasskeyChallenges;
}) {
  const { hostname, protocol } = new URL(publicUrl);
  const isNamed = !hostname.startsWith("[") && !/^\d+(\.\d+){3}$/.test(hostname);
  const isSecure = protocol === "https:" || /^(.+\.)?localhost$/.test(hostname);
  const expected = {
    expectedOrigin: publicUrl,
    expectedRPID: hostname,
    requireUserVerification: true,
  };

  return {
    /** Whether browsers allow passkeys at this server's address: it needs a host name, and HTTPS or this machine. */
    isAvailable: isNamed && isSecure,

    async registrationOptions(
      browser: string,
      { id, email }: Pick<Account, "id" | "email">,
    ): Promise<PublicKeyCredentialCreationOptionsJSON> {
      const { generateRegistrationOptions } = await import("@simplewebauthn/server");
      return generateRegistrationOptions({
        rpName: "ctxd",
        rpID: hostname,
        userName: email,
        userDisplayName: email,
        userID: new TextEncoder().encode(id),
        challenge: bytesOf(await challenges.create(browser, "register")),
        attestationType: "none",
        excludeCredentials: await passkeys.describe(id),
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
        supportedAlgorithmIDs: ALGORITHMS,
      });
    },

    /**
     * Adds a passkey from a browser to an account.
     * @param credential the JSON from the page's script
     * @throws AppError `validation_failed` for one that was not requested, or as `Passkeys.add`
     */
    async register(
      browser: string,
      { id: accountId }: Pick<Account, "id">,
      { credential, name }: { credential: string; name: string },
    ): Promise<void> {
      const expectedChallenge = await challenges.take(browser, "register");
      const response: RegistrationResponseJSON | null = parse(Registration, credential);
      if (response === null || expectedChallenge === null) throw refused();
      const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
      const result = await orNull(async () =>
        verifyRegistrationResponse({
          response: await withoutAttestation(response),
          ...expected,
          expectedChallenge,
          supportedAlgorithmIDs: ALGORITHMS,
        }),
      );
      if (!result?.verified) throw refused();
      const { id, publicKey, counter } = result.registrationInfo.credential;
      const transports = response.response.transports ?? [];
      await passkeys.add(accountId, { id, publicKey, counter, transports, name });
    },

    /**
     * The options for a browser whose passkey signs.
     * @param accountId the account whose passkeys are accepted; null for any
     */
    async requestOptions(
      browser: string,
      purpose: PasskeyPurpose,
      accountId: string | null,
    ): Promise<PublicKeyCredentialRequestOptionsJSON> {
      const { generateAuthenticationOptions } = await import("@simplewebauthn/server");
      return generateAuthenticationOptions({
        rpID: hostname,
        challenge: bytesOf(await challenges.create(browser, purpose)),
        userVerification: "required",
        ...(accountId !== null && {
          allowCredentials: await passkeys.describe(accountId),
        }),
      });
    },

    /**
     * The account of the passkey that signed; null if it is not the expected one, is unknown, or signed something else.
     * @param credential the JSON from the page's script
     * @param accountId as for `requestOptions`
     */
    async verify(
      browser: string,
      purpose: PasskeyPurpose,
      credential: string,
      wanted: string | null,
    ): Promise<string | null> {
      const expectedChallenge = await challenges.take(browser, purpose);
      const response: AuthenticationResponseJSON | null = parse(Assertion, credential);
      if (response === null || expectedChallenge === null) return null;
      const accountId = wanted ?? (await passkeys.findAccount(response.id));
      const known = accountId && (await passkeys.find(accountId, response.id));
      if (!accountId || !known) return null;
      const { userHandle } = response.response;
      // A passkey that was found without a list must name its user (WebAuthn, section 7.2).
      const user = userHandle && Buffer.from(userHandle, "base64url").toString();
      if (user === undefined ? wanted === null : user !== accountId) return null;
      const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
      const result = await orNull(() =>
        verifyAuthenticationResponse({
          response,
          ...expected,
          expectedChallenge,
          credential: known,
        }),
      );
      if (!result?.verified) return null;
      const { newCounter } = result.authenticationInfo;
      return (await passkeys.markUsed(accountId, response.id, newCounter)) ? accountId : null;
    },
  };
}

/**
 * Removes the device's attestation from a new passkey (WebAuthn Level 3, section 8.7). It was not
 * requested, and the library would fetch addresses that its certificates name, which anyone can choose.
 * @throws Error for anything but an attestation object
 */
async function withoutAttestation(
  credential: RegistrationResponseJSON,
): Promise<RegistrationResponseJSON> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await import(
    "@simplewebauthn/server/helpers"
  );
  const { response } = credential;
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject)).get(
    "authData",
  );
  const none = new Map<string, string | Uint8Array | Map<string, string>>([
    ["fmt", "none"],
    ["attStmt", new Map<string, string>()],
    ["authData", authData],
  ]);
  const attestationObject = isoBase64URL.fromBuffer(Uint8Array.from(isoCBOR.encode(none)));
  return { ...credential, response: { ...response, attestationObject } };
}

/** Parses the JSON from a page's script; null for anything else. */
function parse<Schema extends TSchema>(schema: Schema, json: string): Static<Schema> | null {
  const value = parsed(json);
  return Value.Check(schema, value) ? value : null;
}

/** The library throws plain errors for invalid passkeys. Nobody sees them. */
async function orNull<T>(verification: () => Promise<T>): Promise<T | null> {
  try {
    return await verification();
  } catch {
    return null;
  }
}

function refused(): AppError {
  return new AppError(
    "validation_failed",
    "The passkey was not accepted. Reload the page and try again.",
  );
}

function bytesOf(challenge: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(challenge, { alphabet: "base64url" });
}
