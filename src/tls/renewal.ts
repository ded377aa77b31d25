import type { Config } from "../config.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { type Certificate, readCertificate } from "./certificate.ts";

/** How often the files are read, in milliseconds. */
const INTERVAL = 10_000;

/**
 * Notices when the certificate's files hold another one, and has it used. A pair that can't be used,
 * such as one of which half is written yet, is told to the log once and changes nothing.
 * @param use resolves when new connections get the certificate
 */
export function watchCertificate({
  files,
  current,
  use,
  log,
  metrics,
  interval = INTERVAL,
}: {
  files: NonNullable<Config["tls"]>;
  /** The one in use. */
  current: Certificate;
  use: (certificate: Certificate) => Promise<void>;
  log: Log;
  metrics: Metrics;
  interval?: number;
}): {
  /** Looks at the files now. */
  check(): Promise<void>;
  /** Ends it, when what is under way is done. */
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

  const look = async () => {
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
    last = last.then(look);
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
