import type { Config } from "../config/config.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { type Certificate, readCertificate } from "./certificate.ts";

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
}): {
  /** Checks the files now. */
  check(): Promise<void>;
  /** Stops the checks, after one in progress has finished. */
  stop(): Promise<void>;
} {
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
        log.info("certificate_renewed", { names: found.names, expires: isoDate(found.expires) });
      }
      lastProblem = "";
    } catch (error) {
      const cause = messageOf(error);
      if (cause === lastProblem) return;
      lastProblem = cause;
      renewals.inc({ result: "failed" });
      log.warn("certificate_not_renewed", { cause, in_use_until: isoDate(inUse.expires) });
    }
  };

  const check = () => {
    last = last.then(checkFiles);
    return last;
  };
  const timer = setInterval(check, interval);
  timer.unref();
  return {
    check,
    async stop() {
      clearInterval(timer);
      await last;
    },
  };
}

function isoDate(date: Date): string {
  return date.toISOString();
}
