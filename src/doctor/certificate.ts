import type { Config } from "../config.ts";
import { CertificateError, readCertificate } from "../tls/certificate.ts";
import { type Finding, findingsOf } from "./finding.ts";

const DAY = 24 * 3_600_000;
/** Those who renew certificates do it before the last third of 90 days, or of 45. */
const SOON = 10 * DAY;

/** Whether the settings can be used: what is wrong in itself was told before. */
export function checkCertificate(tls: Config["tls"], now: number): Finding {
  const { ok, warning, problem } = findingsOf("settings");
  if (!tls) return ok("all understood");
  try {
    const { names, expires } = readCertificate(tls);
    const left = expires.getTime() - now;
    const which = `the certificate for ${names.slice(0, 200)}`;
    const day = expires.toISOString().slice(0, 10);
    if (left < 0) return problem(`${which} expired on ${day}: renew ${tls.cert}.`);
    const until = `${which} is valid until ${day}`;
    return left < SOON ? warning(`${until}: renew ${tls.cert} soon.`) : ok(until);
  } catch (error) {
    if (error instanceof CertificateError) return problem(error.message);
    throw error;
  }
}
