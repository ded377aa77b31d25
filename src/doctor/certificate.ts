import type { Config } from "../config/config.ts";
import { CertificateError, readCertificate } from "../tls/certificate.ts";
import { type Finding, findingsOf } from "./finding.ts";

const DAY = 24 * 3_600_000;
/** Programs renew certificates of 90 or 45 days before their last third, so earlier than this. */
const SOON = 10 * DAY;

/** Checks the certificate of the settings. Invalid settings were refused before. */
export function checkCertificate(tls: Config["tls"], now: number): Finding {
  const { ok, warning, problem } = findingsOf("settings");
  if (!tls) return ok("all are valid");
  try {
    const { names, expires } = readCertificate(tls);
    const remaining = expires.getTime() - now;
    const which = `the certificate for ${names.slice(0, 200)}`;
    const day = expires.toISOString().slice(0, 10);
    if (remaining < 0) return problem(`${which} expired on ${day}: renew ${tls.cert}.`);
    const until = `${which} is valid until ${day}`;
    return remaining < SOON ? warning(`${until}: renew ${tls.cert} soon.`) : ok(until);
  } catch (error) {
    if (error instanceof CertificateError) return problem(error.message);
    throw error;
  }
}
