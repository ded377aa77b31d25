import { expect, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { rawRequest, sendRaw } from "../support/raw-http.ts";
import { startServer } from "../support/server.ts";

const publicUrl = "https://memory.example.com";
const tls = { cert: "cert.pem", key: "key.pem" };
const https = { host: "memory.example.com", "x-forwarded-proto": "https" };
const LINES = ["GET /api/memories", "GET /sign-in", "GET /nothing", "POST /mcp", "GET /docs"];

type Settings = Partial<Pick<Config, "tls" | "trustProxy" | "publicUrl" | "allowHttp">>;

/** The Strict-Transport-Security headers of several answers, without duplicates. */
async function policies(config: Settings, headers: Record<string, string>) {
  await using server = await startServer({ config });
  const said = await Promise.all(
    LINES.map(async (line) => (await sendRaw(server.port, rawRequest(line, headers))).headers),
  );
  return [...new Set(said.map((each) => each.get("strict-transport-security")))];
}

test("an answer over HTTPS forbids plain HTTP for a year", async () => {
  const year = ["max-age=31536000"];
  expect(await policies({ tls, publicUrl }, { host: https.host })).toEqual(year);
  expect(await policies({ trustProxy: true, publicUrl }, https)).toEqual(year);
  // A proxy may send another host name.
  expect(await policies({ trustProxy: true, publicUrl }, { ...https, host: "ctxd" })).toEqual(year);
});

test("an answer under a local name forbids nothing, because other servers share the name", async () => {
  for (const host of ["localhost", "127.0.0.1", "[::1]", "a.localhost:7733"]) {
    expect(await policies({ tls }, { host })).toEqual([null]);
  }
  const local = "https://localhost:7733";
  expect(await policies({ trustProxy: true, publicUrl: local }, https)).toEqual([null]);
});

test("an answer over plain HTTP forbids nothing, also with a forged X-Forwarded-Proto", async () => {
  expect(await policies({ publicUrl, allowHttp: true }, https)).toEqual([null]);
  expect(await policies({ publicUrl }, https)).toEqual([null]);
  const plain = { ...https, "x-forwarded-proto": "http" };
  expect(await policies({ publicUrl, trustProxy: true }, plain)).toEqual([null]);
  expect(await policies({ trustProxy: true }, https)).toEqual([null]);
});
