import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { CtxdError, errorCode, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";

export type Certificate = ReturnType<typeof readCertificate>;

/** A certificate can't be used. `message` is one sentence that names the file and the problem. */
export class CertificateError extends CtxdError {
  readonly code = "certificate_unusable";
}

/**
 * Reads a certificate and its key. An expired certificate is no error here: the caller decides whether to
 * use it.
 * @returns the certificate with its chain and the key, both in PEM, and the names that it is valid for, such as
 *   `DNS:memory.example.com`
 * @throws CertificateError
 */
export function readCertificate(files: NonNullable<Config["tls"]>) {
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
    const reason = errorCode(cause) || cause;
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

const CHECK_EVERY_MS = 10_000;

/**
 * Checks the certificate's files regularly, and starts to use a changed certificate. A pair that can't be
 * used, such as a half-written one, is logged once and the current certificate stays in use.
 * @param use resolves when new connections get the certificate
 * @param interval milliseconds between two checks
 */
export function watchCertificate({
  files,
  current,
  use,
  log,
  metrics,
  interval = CHECK_EVERY_MS,
}: {
  files: NonNullable<Config["tls"]>;
  /** The certificate in use. */
  current: Certificate;
  use: (certificate: Certificate) => Promise<void>;
  log: Log;
  metrics: Metrics;
  interval?: number;
}) {
  let inUse = current;
  let lastProblem = "";
  let last: Promise<void> = Promise.resolve();
  const renewals = metrics.counter("ctxd_tls_renewals_total", "Certificates found in the files.", [
    "result",
  ]);
  metrics.gauge(
    "ctxd_tls_certificate_expiry_timestamp_seconds",
    "When the certificate in use expires.",
    () => inUse.expires.getTime() / 1_000,
  );

  const checkFiles = async () => {
    try {
      const found = readCertificate(files);
      if (found.cert !== inUse.cert || found.key !== inUse.key) {
        await use(found);
        inUse = found;
        renewals.inc({ result: "ok" });
        log.info("certificate_renewed", {
          names: found.names,
          expires: found.expires.toISOString(),
        });
      }
      lastProblem = "";
    } catch (error) {
      const cause = messageOf(error);
      if (cause === lastProblem) return;
      lastProblem = cause;
      renewals.inc({ result: "failed" });
      log.warn("certificate_not_renewed", { cause, in_use_until: inUse.expires.toISOString() });
    }
  };

  const check = () => {
    last = last.then(checkFiles);
    return last;
  };
  const timer = setInterval(check, interval);
  timer.unref();
  return {
    /** Checks the files now. */
    check,
    /** Stops the checks, after one in progress has finished. */
    async stop() {
      clearInterval(timer);
      await last;
    },
  };
}
