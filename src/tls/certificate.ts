import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { CtxdError } from "../errors.ts";

/** A certificate with its chain, and its private key, both in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** The names that it is valid for, such as `DNS:memory.example.com`. */
  readonly names: string;
  readonly expires: Date;
}

/** A certificate can't be used. `message` is one sentence that names the file and the problem. */
export class CertificateError extends CtxdError {
  override readonly name = "CertificateError";
  readonly code = "certificate_unusable";
}

/**
 * Reads a certificate and its key. An expired certificate is no error here: the caller decides whether to
 * use it.
 * @throws CertificateError
 */
export function readCertificate(files: NonNullable<Config["tls"]>): Certificate {
  const cert = read("CTXD_TLS_CERT", files.cert);
  const key = read("CTXD_TLS_KEY", files.key);
  const first = parse("CTXD_TLS_CERT", files.cert, "no certificate in PEM", () =>
    // The whole chain is parsed, to detect a truncated file.
    blocksOf(cert).map((block) => new X509Certificate(block)),
  ).at(0);
  const privateKey = parse("CTXD_TLS_KEY", files.key, "no unencrypted private key in PEM", () =>
    createPrivateKey(key),
  );
  if (!first) throw new CertificateError(`${files.cert} (CTXD_TLS_CERT) has no certificate.`);
  if (!first.checkPrivateKey(privateKey)) {
    throw new CertificateError(
      `The key in ${files.key} does not belong to the certificate in ${files.cert}.`,
    );
  }
  const names = first.subjectAltName ?? first.subject;
  return { cert, key, names, expires: new Date(first.validTo) };
}

function read(setting: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error && "code" in cause ? cause.code : cause;
    throw new CertificateError(
      `${setting} names ${path}, which can't be read (${reason}): correct the path or the file's mode.`,
      { cause },
    );
  }
}

function parse<T>(setting: string, path: string, what: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new CertificateError(`${path} (${setting}) has ${what}.`, { cause });
  }
}

function blocksOf(pem: string): string[] {
  return pem
    .split(/(?=-----BEGIN CERTIFICATE-----)/)
    .filter((block) => block.includes("-----BEGIN"));
}
