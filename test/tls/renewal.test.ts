import { afterAll, beforeAll, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { databasePath, readOwner } from "../../src/db/data-lock.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import { makeCertificate } from "../support/certificates.ts";
import { commandLine, ctxd } from "../support/command-line.ts";
import { testCacheDir } from "../support/embedder.ts";
import { addAccountTo } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const [first, second, third] = [1, 2, 3].map(() => makeCertificate(folder));
const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
const dataDir = join(folder, "data");
const env = {
  HOME: "/nonexistent",
  CTXD_CACHE_DIR: testCacheDir,
  CTXD_TLS_CERT: files.cert,
  CTXD_TLS_KEY: files.key,
};
if (!first || !second || !third) throw new Error("certificates are missing");

let server: Bun.Subprocess<"ignore", "ignore", "pipe">;
let port = 0;
let log = "";

beforeAll(async () => {
  put(first);
  server = Bun.spawn(commandLine(["serve", "--port", "0"], { dataDir }), {
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  void (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of server.stderr) log += decoder.decode(bytes, { stream: true });
  })();
  await logged("is listening on https://localhost:");
  port = Number(URL.parse(readOwner(dataDir)?.address ?? "")?.port);
});

afterAll(async () => {
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
  rmSync(folder, { recursive: true });
});

/** Adds an expired key. Its use is logged with the address of the client. */
async function addExpiredKey() {
  const { accountId } = await addAccountTo(dataDir);
  const db = openSqlite(databasePath(dataDir));
  try {
    const expiresAt = new Date(Date.now() - 3_600_000);
    const wanted = { name: "expired", scopes: SCOPES, expiresAt };
    return await createKeys({ db, clock: () => Date.now() - 7_200_000 }).create(accountId, wanted);
  } finally {
    await db.close();
  }
}

function put({ cert, key }: Partial<typeof files>) {
  if (cert) copyFileSync(cert, files.cert);
  if (key) copyFileSync(key, files.key);
}

async function logged(text: string) {
  await until(`the server logs ${text}`, () => {
    if (server.exitCode !== null) throw new Error(`the server ended: ${log}`);
    return log.includes(text);
  });
}

/** Sends SIGHUP, so that the server reads its certificate at once instead of at its next regular check. */
async function reload(expected: string) {
  log = "";
  server.kill("SIGHUP");
  await logged(expected);
}

function fingerprint(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { host: "127.0.0.1", port, servername: "localhost", rejectUnauthorized: false };
  const socket = connect(options, () => {
    resolve(socket.getPeerCertificate().fingerprint256);
    socket.destroy();
  });
  socket.on("error", reject);
  return promise;
}
const of = ({ certPem }: { certPem: string }) => new X509Certificate(certPem).fingerprint256;

test("a certificate is renewed without failed requests", async () => {
  expect(await fingerprint()).toBe(of(first));
  let isOver = false;
  const statuses: Record<string, number> = {};
  const ask = async (connection: string) => {
    const answer = await fetch(`https://localhost:${port}/api/health`, {
      headers: { connection },
      tls: { rejectUnauthorized: false },
    }).then(
      (response) => response.json().then(() => String(response.status)),
      (error) => String(error.code),
    );
    statuses[answer] = (statuses[answer] ?? 0) + 1;
  };
  const clients = Array.from({ length: 8 }, async (_, index) => {
    // The pause leaves the server processor time for renewing the certificate, which takes seconds.
    for (; !isOver; await Bun.sleep(20)) await ask(index % 2 ? "close" : "keep-alive");
  });

  for (const next of [second, first]) {
    put(next);
    await reload("certificate_renewed");
    expect(await fingerprint()).toBe(of(next));
  }
  isOver = true;
  await Promise.all(clients);
  expect(Object.keys(statuses)).toEqual(["200"]);
  expect(statuses["200"]).toBeGreaterThan(100);

  // After a renewal the server still knows the address of the client.
  const tls = { rejectUnauthorized: false };
  const { key } = await addExpiredKey();
  const headers = { authorization: `Bearer ${key}` };
  await fetch(`https://localhost:${port}/api/memories`, { tls, headers });
  await logged("address=127.0.0.1");
  const unix = join(dataDir, "ctxd.sock");
  const metrics = await fetch("http://localhost/api/metrics", { unix });
  expect(await metrics.text()).toContain('ctxd_tls_renewals_total{result="ok"} 2');
});

test("a certificate without its key is not used, and the reason is logged", async () => {
  put({ cert: second.cert });
  await reload("certificate_not_renewed");
  expect(log).toContain("does not belong to the certificate");
  expect(await fingerprint()).toBe(of(first));
  put({ key: second.key });
  await reload("certificate_renewed");
  expect(await fingerprint()).toBe(of(second));
});

test("a second server fails because the port is in use", async () => {
  const other = ["serve", "--port", String(port)];
  const outcome = await ctxd(other, { env, dataDir: join(folder, "other") });
  expect(outcome).toMatchObject({ exitCode: 1 });
  expect(outcome.stderr).toContain(`Port ${port} is in use`);
});

test("a server with an unusable certificate does not start", async () => {
  put({ key: third.key });
  const other = ["serve", "--port", "0"];
  const outcome = await ctxd(other, { env, dataDir: join(folder, "other") });
  expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
  expect(outcome.stderr).toContain("does not belong to the certificate");
  put({ key: second.key });
});
