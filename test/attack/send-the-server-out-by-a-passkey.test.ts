import { afterAll, beforeAll, expect, test } from "bun:test";
// The certificate library requires this import before its own.
import "reflect-metadata";
import type { KeyObject } from "node:crypto";
import {
  CRLDistributionPointsExtension,
  Extension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson } from "../oauth/support/person.ts";
import { addPerson, askOptions, formWith } from "../sign-in/support/factors.ts";
import { type Cbor, createSoftPasskey } from "../support/soft-passkey.ts";

/** The description of a key by Android's key store. */
const KEY_DESCRIPTION = "1.3.6.1.4.1.11129.2.1.17";
const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

let server: OAuthServer;
/** A host in the network of the server. */
let inside: Bun.Server<undefined>;
const visits: string[] = [];
beforeAll(async () => {
  server = await startOAuthServer();
  inside = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      visits.push(url);
      return new Response("inside");
    },
  });
});
afterAll(async () => {
  await Promise.all([server.close(), inside.stop(true)]);
});

/** A certificate chain for a key, by an own authority with the address of a revocation list. */
async function certify(key: KeyObject, clientDataHash: Uint8Array, list: string) {
  const authority = await crypto.subtle.generateKey(ECDSA, true, ["sign", "verify"]);
  const jwk = key.export({ format: "jwk" });
  const publicKey = await crypto.subtle.importKey("jwk", jwk, ECDSA, true, ["verify"]);
  const common = {
    issuer: "CN=authority",
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 3_600_000),
    signingKey: authority.privateKey,
    signingAlgorithm: ECDSA,
  };
  const description = Buffer.concat([
    Buffer.from("30340201030a01000201040a01000420", "hex"),
    clientDataHash,
    Buffer.from("040030003000", "hex"),
  ]);
  const leaf = await X509CertificateGenerator.create({
    ...common,
    serialNumber: "01",
    subject: "CN=key",
    publicKey,
    extensions: [
      new Extension(KEY_DESCRIPTION, false, description),
      new CRLDistributionPointsExtension([list]),
    ],
  });
  const root = await X509CertificateGenerator.create({
    ...common,
    serialNumber: "02",
    subject: "CN=authority",
    publicKey: authority.publicKey,
  });
  return [leaf, root].map(({ rawData }) => new Uint8Array(rawData));
}

test("certificates of a passkey make the server send no request", async () => {
  const { id } = await addPerson(server);
  const person = createPerson(server.origin);
  person.jar.set("ctxd-session", await server.sessions.begin(id));
  const page = formWith(await person.visit("/account/passkeys/new"), "credential");
  const options = await askOptions(server, person, page, "/account/passkeys/options");
  const passkey = createSoftPasskey();
  const telling = { origin: server.origin };
  const list = `http://127.0.0.1:${inside.port}/secret`;
  const x5c = await certify(passkey.publicKey, passkey.clientDataHash(options, telling), list);
  const fields = new Map<string, Cbor>([
    ["alg", -7],
    ["sig", Buffer.alloc(70)],
    ["x5c", x5c],
  ]);
  const statement = { format: "android-key", fields };
  const credential = passkey.create(options, { ...telling, statement });
  const added = await person.submit(page, { credential, name: "a passkey" });
  expect(visits).toEqual([]);
  // The server does not request attestation, and does not refuse it.
  expect(added.status).toBe(200);
  expect(await server.factors.passkeys.count(id)).toBe(1);
});
