import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkCertificate } from "../../src/doctor/examine.ts";
import { readCertificate } from "../../src/tls/certificate.ts";
import { makeCertificate } from "../support/certificates.ts";

const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
afterAll(() => rmSync(folder, { recursive: true }));
const [one, other] = [makeCertificate(folder), makeCertificate(folder)];
const DAY = 24 * 3_600_000;

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("a certificate and its key are read, also with a chain", () => {
  const { names, expires, ...pems } = readCertificate(one);
  expect(pems).toEqual({ cert: one.certPem, key: one.keyPem });
  expect(names).toBe("DNS:localhost");
  expect((expires.getTime() - Date.now()) / DAY).toBeCloseTo(30, 1);
  const chain = write("chain.pem", one.certPem + other.certPem);
  expect(readCertificate({ cert: chain, key: one.key }).cert).toContain(other.certPem);
});

describe("an unusable file is refused with its name:", () => {
  const half = one.certPem.slice(0, one.certPem.length / 2);
  const [none, cut] = [join(folder, "none"), write("cut.pem", half)];
  const cases: [what: string, cert: string, key: string, message: RegExp][] = [
    ["a missing certificate", none, one.key, /CTXD_TLS_CERT names .*none, .*ENOENT/],
    ["a missing key", one.cert, none, /CTXD_TLS_KEY names .*none, .*ENOENT/],
    [
      "the key of another certificate",
      one.cert,
      other.key,
      /does not belong to the certificate in/,
    ],
    ["a truncated certificate", cut, one.key, /cut\.pem \(CTXD_TLS_CERT\) has no certificate/],
    [
      "a truncated chain",
      write("half-chain.pem", one.certPem + half),
      one.key,
      /half-chain\.pem \(CTXD_TLS_CERT\) has no certificate/,
    ],
    ["an empty file", write("empty.pem", ""), one.key, /empty\.pem .*has no certificate/],
    [
      "a truncated key",
      one.cert,
      write("cut-key.pem", one.keyPem.slice(0, 80)),
      /cut-key\.pem \(CTXD_TLS_KEY\) has no unencrypted private key/,
    ],
    ["exchanged files", one.key, one.cert, /has no certificate in PEM/],
  ];
  test.each(cases)("%s", (_, cert, key, message) => {
    expect(() => readCertificate({ cert, key })).toThrow(message);
  });
});

test("the doctor reports when a certificate expires", () => {
  const at = (days: number) => checkCertificate(one, Date.now() + days * DAY);
  expect(at(0)).toMatchObject({
    state: "ok",
    message: expect.stringMatching(/valid until \d{4}-/),
  });
  expect(at(25)).toMatchObject({ state: "warning", message: expect.stringContaining("renew") });
  expect(at(31)).toMatchObject({
    state: "problem",
    message: expect.stringContaining("expired on"),
  });
  expect(checkCertificate({ ...one, key: other.key }, 0)).toMatchObject({ state: "problem" });
});
