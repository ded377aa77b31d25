import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Makes a certificate for localhost with a key of its own, in a new folder in `folder`. */
export function makeCertificate(folder: string, { days = 30 } = {}) {
  const own = mkdtempSync(join(folder, "certificate-"));
  const [cert, key] = [join(own, "cert.pem"), join(own, "key.pem")];
  const { success, stderr } = Bun.spawnSync([
    ...["openssl", "req", "-x509", "-nodes", "-days", String(days)],
    ...["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
    ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
    ...["-keyout", key, "-out", cert],
  ]);
  if (!success) throw new Error(stderr.toString());
  return { cert, key, certPem: readFileSync(cert, "utf8"), keyPem: readFileSync(key, "utf8") };
}
