import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates a self-signed certificate for a host. */
export async function makeCertificate(host: string) {
  const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const name = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
  await Bun.$`openssl req -x509 ${curve} ${name} -days 2 -keyout ${key} -out ${cert}`.quiet();
  const pair = { cert: await Bun.file(cert).text(), key: await Bun.file(key).text() };
  rmSync(folder, { recursive: true });
  return pair;
}
