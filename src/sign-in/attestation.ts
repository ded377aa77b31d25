import type { RegistrationResponseJSON } from "@simplewebauthn/server";

/**
 * A new passkey without what its device says of itself (WebAuthn Level 3, section 8.7): that was not
 * asked for, and the library would fetch what certificates in it name, from wherever who made them likes.
 * @throws Error for what is no attestation object
 */
export async function withoutAttestation(
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
